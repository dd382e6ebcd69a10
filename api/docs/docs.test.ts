import { request } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { settings } from '../../infra/config/settings.ts'
import {
  command,
  create,
  createRule,
  given,
  metric,
  newLiquidationAlert,
  price,
  risk as riskAt,
} from '../../processors/alerts/testing/records.ts'
import { digestPayload, payloadOf } from '../../processors/webhooks/payload.ts'
import { triggerTo } from '../../processors/webhooks/testing/world.ts'
import { vectors } from '../../processors/webhooks/testing/vectors.ts'
import { schemaOf } from '../../schemas/codec.ts'
import type { Message, RecordType } from '../../schemas/records.ts'
import { keys, topics } from '../../schemas/topics.ts'
import { templateOf } from './openapi.ts'
import { routes } from '../routes.ts'
import { eventSchemas } from '../routes/stream.ts'
import type { Schema } from '../request/schema.ts'
import { ajv, closed } from '../testing/closed.ts'
import { startHarness, type Harness } from '../testing/harness.ts'
import { fieldsOf } from './fields.ts'
import { escaped, htmlOf } from './markdown.ts'
import { Docs } from './docs.ts'
import { pathOf } from './layout.ts'
import { webhooks } from './webhook-schema.ts'

const docs = new Docs(routes, '1.2.3', 'http://127.0.0.1:3000')
const addresses = docs.pages.map((page) => (page.slug === '' ? '/docs' : pathOf(page)))

let api: Harness
beforeAll(async () => {
  api = await startHarness()
})
afterAll(() => api.stop())

async function textOf(path: string): Promise<string> {
  return (await fetch(api.url + path)).text()
}

/** A request as a browser's cache makes it: fetch would say that it wants no cache. */
function conditional(path: string, etag: string): Promise<{ status: number | undefined; length: number }> {
  return new Promise((resolve, reject) => {
    const asked = request(api.url + path, { headers: { 'if-none-match': etag } }, (response) => {
      let length = 0
      response.on('data', (chunk: Buffer) => (length += chunk.length))
      response.on('end', () => resolve({ status: response.statusCode, length }))
    })
    asked.on('error', reject).end()
  })
}

describe('the pages', () => {
  it('show no Idempotency-Key that would be copied: under it everybody’s alert could be asked for', async () => {
    const shown = await Promise.all(addresses.map((at) => textOf(at === '/docs' ? '/docs/index.md' : `${at}.md`)))
    const keys = shown.flatMap((text) => [...text.matchAll(/^(?:.*-H ["'])?idempotency-key: (?<key>\S+)/gim)])
    expect(keys.length).toBeGreaterThan(4)
    expect(keys.filter(({ groups }) => groups?.['key']?.startsWith('$') !== true).map(String)).toEqual([])
  })

  it.each(addresses)('serve %s as HTML that runs nothing but ours, and as Markdown', async (path) => {
    const response = await fetch(api.url + path)
    const html = await response.text()
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    expect(response.headers.get('content-security-policy')).toContain("default-src 'none'")
    expect(response.headers.get('cache-control')).toBe('public, max-age=300')
    expect(html.match(/<h1/g)?.length).toBe(1)
    expect(html).toContain('<html lang="en">')
    expect(html).not.toMatch(/<script(?! src="\/docs\/docs\.js" defer)|<style| style=| on\w+="|<!-- (?:file|code)/)
    const markdown = await fetch(`${api.url}${path === '/docs' ? '/docs/index' : path}.md`)
    expect(markdown.headers.get('content-type')).toBe('text/markdown; charset=utf-8')
    expect(await markdown.text()).toMatch(/^# \S/)
  })

  it('are not sent again to who has them', async () => {
    for (const path of ['/docs', '/docs/docs.css', '/asyncapi.json', '/docs/reference/cvd.md']) {
      const etag = (await fetch(api.url + path)).headers.get('etag') ?? ''
      expect(await conditional(path, etag)).toEqual({ status: 304, length: 0 })
      expect((await conditional(path, '"another"')).status).toBe(200)
    }
  })

  it('link to nothing that is not there', async () => {
    const known = new Map<string, string>()
    const broken: string[] = []
    for (const path of addresses) {
      for (const [, link = ''] of (await textOf(path)).matchAll(/(?:href|src)="(\/[^"]*)"/g)) {
        const [target = '', anchor] = link.split('#')
        const text = known.get(target) ?? ((await fetch(api.url + target)).ok ? await textOf(target) : 'missing')
        known.set(target, text)
        if (text === 'missing' || (anchor !== undefined && !text.includes(`id="${anchor}"`))) broken.push(link)
      }
    }
    expect(broken).toEqual([])
    expect(known.size).toBeGreaterThan(addresses.length)
  })

  it('have one of every route, with each of its fields and errors', async () => {
    for (const row of routes) {
      const text = await textOf(`/docs/reference/${row.name}.md`)
      expect(text).toContain(`# ${row.method} ${templateOf(row.path)}`)
      const fields = Object.values(row.outputs).flatMap(({ schema }) => fieldsOf(schema))
      const named = [...fields.map(({ path }) => path), ...Object.keys(row.input), ...row.errors]
      expect([row.name, named.filter((name) => !text.includes(`\`${name}\``))]).toEqual([row.name, []])
    }
  })

  it('have every topic, record and webhook', async () => {
    const text = await textOf('/docs/events.md')
    for (const { name, records } of topics)
      for (const word of [`\`${name}\``, ...records.map((record) => `### ${record}\n`)]) expect(text).toContain(word)
    for (const key of Object.values(keys)) expect(text).toContain(`Key: \`${key}\``)
    for (const word of [
      '### price_alert',
      '### liquidation_alert',
      '### digest',
      '`data.condition_met`',
      '`data.tags`',
    ])
      expect(text).toContain(word)
  })

  it('say what who reads the log without our code has to know, with fields that there are', async () => {
    const text = await textOf('/docs/events.md')
    for (const word of ['modulo 2^44', 'zstd', 'of btc, eth, sol,', 'SHA-256', 'A null value', 'Kafka’s timestamp'])
      expect(text).toContain(word)
    const said = [...text.matchAll(/^### (?<record>\w+)\n\n.*\n\nKey: .*The same: of equal (?<fields>.*)\.$/gm)]
    expect(said.length).toBeGreaterThan(20)
    for (const { groups } of said) {
      const schema = schemaOf(groups?.['record'] as RecordType)
      const fields = groups?.['fields']?.replaceAll('`', '').split(', ')
      expect(schema.fields.map(({ name }) => name)).toEqual(expect.arrayContaining(fields ?? ['fields']))
    }
  })

  it('show the golden vectors as they are', async () => {
    const text = await textOf('/docs/webhooks.md')
    for (const vector of vectors) for (const value of Object.values(vector)) expect(text).toContain(`\`${value}\``)
  })

  it('name only settings that there are', () => {
    const texts = docs.pages.map(({ markdown }) => markdown)
    const named = texts.flatMap((text) =>
      [...text.matchAll(/`([A-Z][A-Z]+_[A-Z_]+)(?:=[^`]*)?`/g)].map(([, one = '']) => one),
    )
    const examples = new Set([
      'PAYMENT_',
      'MARKET_DATA_URL',
      'ALERT_ID',
      'TRIGGER_ID',
      'MANAGE_TOKEN',
      'BUDGET_USDC',
      'MAX_PER_CALL_USDC',
    ])
    expect(named.filter((name) => !(name in settings) && !examples.has(name))).toEqual([])
    expect(named.length).toBeGreaterThan(10)
  })

  it('are 404 where there is none', async () => {
    for (const path of ['/docs/nothing', '/docs/reference/nothing', '/docs/%2e%2e%2fmain.ts'])
      expect([path, (await fetch(api.url + path)).status]).toEqual([path, 404])
  })
})

describe('Markdown', () => {
  it('shows HTML and does not follow it', () => {
    const html = htmlOf(
      'a <script>alert(1)</script> [x](javascript:alert(1)) ![y](http://x/y.png) `<b>`\n\n<img src=x>',
    )
    expect(html).not.toMatch(/<script|<img|javascript:|<b>/)
    expect(html).toContain(escaped('<script>'))
  })
})

describe('the AsyncAPI document', () => {
  // Asked for once: the checker's compilation takes as long as an idle connection is kept.
  let text = ''
  beforeAll(async () => {
    text = await textOf('/asyncapi.json')
  })

  it('is valid by the official schema, and has every topic, webhook and event of the stream', async () => {
    const document = JSON.parse(text) as {
      channels: Record<string, { address: string; messages: object }>
      components: { messages: Record<string, object> }
    }
    const { Ajv } = await import('ajv')
    const { default: specs } = await import('@asyncapi/specs')
    const validate = new Ajv({ strict: false, validateFormats: false, meta: false, validateSchema: false }).compile(
      specs.schemas['3.0.0'] as object,
    )
    validate(document)
    expect(validate.errors ?? []).toEqual([])
    const channels = Object.values(document.channels)
    expect(channels.map(({ address }) => address)).toEqual([...topics.map(({ name }) => name), '/{path}', '/stream'])
    expect(Object.keys(channels.at(-1)?.messages ?? {})).toEqual(Object.keys(eventSchemas))
    for (const [index, { records }] of topics.entries())
      expect(Object.keys(channels[index]?.messages ?? {})).toEqual([...records])
    for (const [record, key] of Object.entries(keys))
      expect(document.components.messages[record]).toMatchObject({ bindings: { kafka: { key: { description: key } } } })
  })

  it('leads every reference to something', () => {
    const document: unknown = JSON.parse(text)
    const missing = [...text.matchAll(/"\$ref":"#\/([^"]+)"/g)].filter(([, path = '']) => {
      const found = path.split('/').reduce<unknown>((at, key) => (Object(at) as Record<string, unknown>)[key], document)
      return found === undefined
    })
    expect(missing).toEqual([])
  })
})

describe('the webhooks’ schemas', () => {
  const risk = {
    kind: 'liquidation',
    severity: 'high',
    condition: 'cascade_risk',
    oi_at_risk_usd: 12e6,
    oi_at_risk_pct: 11.5,
    cascade_risk: 'high',
    threshold_pct: 5,
    sources: [{ exchange: 'okx', price: null, open_interest_usd: 1e9, time: 1_786_060_800_000_000 }],
  } as const

  function ruleText(state: string): string {
    const figures = [{ metric: 'cvd', exchange: null, window: null, value: 6 }]
    const when = { metric: 'cvd', operator: 'above', value: 5 }
    return JSON.stringify({ kind: 'rule', when, note: null, group: 'g', tags: [], state, figures })
  }

  function faults(event: string, change: Parameters<typeof triggerTo>[1], mode: string): unknown {
    return faultsOf(webhooks[event]?.schema, payloadOf(triggerTo('https://localhost/', change), mode))
  }

  function faultsOf(schema: Schema | undefined, bytes: Buffer): unknown {
    const body: unknown = JSON.parse(bytes.toString())
    const validate = ajv.compile(closed(schema) as object)
    validate(body)
    return validate.errors ?? []
  }

  it.each(['demo', 'live'])('say what is sent, and nothing that is not: %s', (mode) => {
    for (const test of [false, true]) {
      expect(faults('price_alert', { test }, mode)).toEqual([])
      expect(faults('liquidation_alert', { ...risk, test }, mode)).toEqual([])
      for (const state of ['triggered', 'resolved'])
        expect(
          faults('rule_alert', { kind: 'rule', severity: 'medium', condition: ruleText(state), test }, mode),
        ).toEqual([])
    }
  })

  it('say what the core’s own triggers become, by themselves and in a digest', async () => {
    const document = JSON.parse(await textOf('/asyncapi.json')) as {
      channels: { webhook: { messages: object } }
      components: { messages: Record<string, { payload: Schema }> }
    }
    const test = (): Message<'command'> => command({ action: 'test' })
    const cvd = (at: number, value: number): Message<'metric'> => metric(at, 'cvd', { 'cvd@okx': value })
    const rule = createRule({ metric: 'cvd', operator: 'above', value: 5 }, { resolved: true, tags: ['a'], group: 'g' })
    const triggers = {
      price_alert: given(create(), price(1, 101), test()).triggers,
      liquidation_alert: given(create(newLiquidationAlert()), riskAt(1, 6), test()).triggers,
      rule_alert: given(rule, cvd(1, 6), cvd(2, 4), test()).triggers,
    }
    expect(Object.values(triggers).map(({ length }) => length)).toEqual([2, 2, 3])
    expect(Object.keys(document.channels.webhook.messages)).toEqual([...Object.keys(triggers), 'digest'])
    const schemaOf = (event: string): Schema | undefined => document.components.messages[event]?.payload
    for (const mode of ['demo', 'live']) {
      for (const [event, told] of Object.entries(triggers))
        expect(told.map((one) => faultsOf(schemaOf(event), payloadOf(one, mode)))).toEqual(told.map(() => []))
      const digest = { id: 'a_digest', triggers: Object.values(triggers).flat() }
      expect(faultsOf(schemaOf('digest'), digestPayload(digest, mode))).toEqual([])
    }
  })
})

describe('/llms.txt', () => {
  it('has the form of llmstxt.org: a title, a summary, and links under headings', async () => {
    const text = await textOf('/llms.txt')
    expect(text).toMatch(/^# [^\n]+\n\n> [^\n]+\n/)
    const [, ...sections] = text.split(/^## /m)
    expect(sections.map((section) => section.split('\n')[0])).toEqual(['Guides', 'Routes', 'Documents for programs'])
    for (const section of sections)
      for (const line of section.split('\n').slice(1).filter(Boolean))
        expect(line).toMatch(/^- \[[^\]]+\]\(\/[^)]+\): /)
  })

  it('links to nothing that is not there', async () => {
    const links = [...(await textOf('/llms.txt')).matchAll(/\]\((\/[^)]+)\)/g)].map(([, link = '']) => link)
    const missing = await Promise.all(links.map(async (link) => ((await fetch(api.url + link)).ok ? [] : [link])))
    expect(missing.flat()).toEqual([])
    expect(links.length).toBeGreaterThan(routes.length)
  })
})

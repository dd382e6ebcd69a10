import { execFile, execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { format } from 'prettier'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { recordId } from '../../schemas/record-id.ts'
import { apiKinds } from '../alerts/kinds/kinds.ts'
import type { Route } from '../request/route.ts'
import { routes } from '../routes.ts'
import { startAlerts, textOf, type AlertHarness } from '../testing/alert-calls.ts'
import { checkOf } from '../testing/closed.ts'
import { fakePayments, payer, signPayment, type FakePayments } from '../testing/fake-payments.ts'
import { flow, NOW } from '../testing/harness.ts'
import { commandOf } from './reference.ts'

/** The documented command of every route is run as it stands; what it answers is what the documentation shows. */

const run = promisify(execFile)
const SECOND = 1_000_000
const EXAMPLES = fileURLToPath(new URL('assets/examples.json', import.meta.url))
const ROWS_SHOWN = 2
/** They print documents that have their own tests, or that are too long to be shown. */
const notShown = new Set(['openapi', 'asyncapi'])

const hasCurl = ((): boolean => {
  try {
    return execFileSync('curl', ['--version']).length > 0
  } catch {
    console.log('skipped: there is no curl')
    return false
  }
})()

let api: AlertHarness
/** The same where credit can be bought. */
let selling: AlertHarness
let payments: FakePayments
const place = { topic: 'alerts.inputs', partition: 3, offset: 42 } as const
const price = { asset: 'btc', price: 60_010, low: 59_990, high: 60_020, change_24h: 1.2, sources: [] }
const composite = { ...price, quality: 'good', late: false, bounds_from: 0, v: 1 } as const

beforeAll(async () => {
  api = await startAlerts()
  payments = await fakePayments(undefined, () => NOW / 1_000)
  selling = await startAlerts({ payments })
  const long = NOW - 3_605_000_000
  api.database.flows.push(flow({ venue: 'coinbase', bucket: long }))
  api.database.flows.push(flow({ buy: 3, sell: 1 }), flow({ venue: 'coinbase', buy: 1, sell: 2 }))
  api.database.market.pastPrices.push({ ...composite, time: NOW - 60 * SECOND }, { ...composite, time: NOW - SECOND })
  api.alerts.records.set(recordId(place), {
    time: NOW / 1000,
    message: { type: 'composite_price', value: { ...composite, time: NOW } },
  })
})
afterAll(() => Promise.all([api.stop(), selling.stop(), payments.stop()]))

/** What the command's variables stand for: an alert of its own, with one delivery. */
async function environment(row: Route): Promise<Record<string, string>> {
  if (row.name === 'record') return { RECORD: recordId(place) }
  if (row.name === 'wallet_alerts') return walletProof(api, 'alerts')
  if (row.name === 'wallet_keys') return walletProof(selling, 'keys')
  if (row.name === 'credit_buy') return { PAYMENT: await payment(), UUID: randomUUID() }
  if (row.path.startsWith('/keys/')) return boughtKey()
  const UUID = randomUUID()
  if (!('Authorization' in (row.headers ?? {})) && !row.path.endsWith('/:id')) return { UUID }
  const kind = apiKinds.find(({ paths }) => row.path.startsWith(`${paths.alert}/:`))?.paths.alert
  if (kind === undefined) return {}
  const { id, token } = await api.create({ webhook_url: `https://hooks.example.com/${row.name}` }, kind)
  const trigger_id = `${id}_1`
  const times = { started: NOW, finished: NOW + 120_000, due: null, triggered: NOW - SECOND }
  const attempt = { alert_id: id, trigger_id, number: 1, outcome: 'delivered', status: 200, error: null, test: false }
  const startedAt = { started: NOW, partition: 0, offset: 0 }
  api.database.attempts = [{ ...attempt, ...times, position: startedAt, digest: null }]
  api.database.triggers = [{ alert_id: id, trigger_id, partition: 0, offset: 0 }]
  return { ALERT_ID: id, MANAGE_TOKEN: token, TRIGGER_ID: trigger_id, UUID }
}

/** The message as it stands in JSON, and its signature. */
async function payment(): Promise<string> {
  return (await signPayment({ amount: '1000000', now: NOW / 1e6 })).v2
}

/** A key of its own. */
async function boughtKey(): Promise<Record<string, string>> {
  const headers = { 'payment-signature': await payment(), 'idempotency-key': randomUUID() }
  const { body } = await selling.send('POST', '/credit', { headers })
  return { KEY_ID: textOf(body['key_id']), API_KEY: textOf(body['api_key']) }
}

async function walletProof(from: AlertHarness, purpose: string): Promise<Record<string, string>> {
  const message = textOf(
    (await from.get(`/wallet/message?purpose=${purpose}&address=${payer.address}`)).body['message'],
  )
  const inJson = JSON.stringify(message).slice(1, -1)
  return { WALLET_MESSAGE: inJson, WALLET_SIGNATURE: await payer.signMessage({ message }) }
}

async function answerOf(row: Route): Promise<{ status: string; text: string }> {
  const isOfKeys = /^\/(?:credit|keys|wallet\/keys)\b/.test(row.path)
  const command = `${commandOf(row, (isOfKeys ? selling : api).url)} -w '\\n%{http_code}'`
  if (row.path.includes('alert')) api.advance(1_000) // so that lists have one order
  const env = { ...process.env, ...(await environment(row)) }
  const { stdout } = await run('sh', ['-c', command], { env, timeout: 60_000, maxBuffer: 8_000_000 })
  const cut = stdout.lastIndexOf('\n')
  return { text: stdout.slice(0, cut), status: stdout.slice(cut + 1) }
}

/** As the documentation shows it: short, and the same in every run. */
function shown(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, ROWS_SHOWN).map(shown)
  if (typeof value === 'string') return steady(value)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, shown(inner)]))
}

function steady(value: string): string {
  return value
    .replace(/(alert_(?:liq_|rule_)?btc_\d+)_\d+/, '$1_48151623')
    .replace(
      /[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}_[\da-f]{16}/,
      '5f1c0a34-6f0e-4b5c-9a53-0c9ad2b1c7de_9a53c7de0c9ad2b1',
    )
    .replace(/^[\da-f]{20}$/, '0123456789abcdef0123')
    .replace(/^mda_.+/, 'mda_0123456789abcdef0123_c2VjcmV0LW9mLXRoZS1kb2N1bWVudGF0aW9uLTEyMzQ')
    .replace(/^kt_.+/, 'MANAGE_TOKEN')
    .replace(/^whsec_.+/, 'whsec_Z29sZGVuLXZlY3Rvci1vZi10aGUtd2ViaG9va3MhISE=')
}

function exampleOf(row: Route, text: string): unknown {
  const body: unknown = JSON.parse(text)
  const example = shown(body)
  return row.outputs[201] === undefined || row.buysCredit === true
    ? example
    : { ...Object(example), manage_token: 'MANAGE_TOKEN' }
}

describe.skipIf(!hasCurl)('the documented commands', () => {
  const recorded: Record<string, unknown> = {}

  it.each(routes.map((row) => [row.method, row.path, row] as const))(
    'ask %s %s, and are answered as documented',
    async (_method, _path, row) => {
      const { status, text } = await answerOf(row)
      const output = row.outputs[status === '201' ? 201 : 200]
      expect([status, output === undefined ? text : 'documented']).toEqual([status, 'documented'])
      expect(text.length).toBeGreaterThan(0)
      if (output?.type !== 'application/json') return
      const validate = checkOf(output.schema)
      validate(JSON.parse(text))
      expect(validate.errors ?? []).toEqual([])
      if (!notShown.has(row.name)) recorded[row.name] = exampleOf(row, text)
    },
  )

  it('are shown with these answers (vitest -u records them anew)', async () => {
    expect(textOf(Object.keys(recorded)[0])).toBe('cvd')
    await expect(await format(JSON.stringify(recorded), { parser: 'json', printWidth: 120 })).toMatchFileSnapshot(
      EXAMPLES,
    )
  })
})

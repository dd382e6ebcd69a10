import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startAlerts, type AlertHarness } from '../../api/testing/alert-calls.ts'
import { NOW } from '../../api/testing/harness.ts'
import { metric, SECOND } from '../../processors/alerts/testing/records.ts'
import { emptyFields } from '../../schemas/codec.ts'
import { applyStep, planOf, type Ask, type OwnedRule } from './apply.ts'
import { readRules } from './files.ts'

const cvd = (value: number): object => ({ metric: 'cvd', operator: 'above', value })
const buyers = { name: 'buyers', symbol: 'BTC', when: cvd(5) }
const sellers = { name: 'sellers', symbols: 'all', when: cvd(9), note: 'n' }
const env = { HOOK: 'https://hooks.example.com/secret' }

let api: AlertHarness
let folder: string
let owned: Record<string, OwnedRule>
let now: number
/** Waits where the API takes no more for a moment. */
const ask: Ask = async (method, where, sent = {}) => {
  const { body, token, key } = sent
  const answer = await api.send(method, where, {
    ...(body !== undefined && { body }),
    ...(token !== undefined && { token }),
    ...(key !== undefined && { headers: { 'idempotency-key': key } }),
  })
  if (answer.status !== 429) return answer
  api.advance(Number(answer.headers.get('retry-after')) * 1_000)
  return ask(method, where, sent)
}

beforeEach(async () => {
  api = await startAlerts()
  folder = mkdtempSync(path.join(tmpdir(), 'rules-'))
  owned = {}
  now = NOW / 1_000
})
afterEach(async () => {
  rmSync(folder, { recursive: true, force: true })
  await api.stop()
})

function write(file: string, rules: readonly object[], defaults: object = { webhook_url: '$HOOK' }): string {
  const where = path.join(folder, file)
  writeFileSync(where, JSON.stringify({ defaults, rules }, null, 2))
  return where
}

const clock = (): number => now

/** Applies the folder; gives what was done. */
async function apply(): Promise<string[]> {
  const steps = await planOf(readRules(folder, env), owned, ask, clock)
  for (const step of steps) {
    const known = await applyStep(step, ask, clock)
    if (known === undefined) Reflect.deleteProperty(owned, step.name)
    else owned[step.name] = known
  }
  return steps.map(({ name, does }) => `${does} ${name}`)
}

/** The log tells of CVD after so many seconds; what is above it rings. */
function tellCvd(seconds: number, value: number): void {
  const { value: told } = metric(seconds, 'cvd', { 'cvd@binance': value })
  api.alerts.take({ type: 'metric', value: { ...told, asset: 'btc', time: NOW + seconds * SECOND } })
}

function passHours(hours: number): void {
  now += hours * 3_600_000
  const mark = { ...emptyFields('mark'), writer: 'test', run: 0, time: now * 1_000 }
  api.alerts.take({ type: 'mark', value: mark })
}

const shown = async (): Promise<object> => (await ask('GET', `/alerts/${owned['buyers']?.alert_id}`)).body

describe('rules that are applied', () => {
  it('are made, changed and taken away, and are the same the second time', async () => {
    write('a.json', [buyers])
    write('b.json', [sellers])
    expect(await apply()).toEqual(['create buyers', 'create sellers'])
    expect(await apply()).toEqual(['keep buyers', 'keep sellers'])
    const before = owned['buyers']
    write('a.json', [{ ...buyers, when: cvd(6) }])
    expect(await apply()).toEqual(['change buyers', 'keep sellers'])
    expect(owned['buyers']?.alert_id).toBe(before?.alert_id)
    expect((await ask('GET', `/alerts/${before?.alert_id}`)).body).toMatchObject({ when: { value: 6 } })
    write('a.json', [])
    expect(await apply()).toEqual(['keep sellers', 'remove buyers'])
    expect((await ask('GET', `/alerts/${before?.alert_id}`)).body).toMatchObject({ status: 'cancelled' })
    expect(Object.keys(owned)).toEqual(['sellers'])
  })

  it('are found again where what was made was not written down', async () => {
    write('a.json', [buyers])
    await apply()
    const made = owned['buyers']
    owned = {}
    await apply()
    expect(owned['buyers']).toEqual(made)
  })

  it('are made again when they have ended', async () => {
    write('a.json', [buyers])
    await apply()
    const { alert_id: id = '', manage_token: token = '' } = owned['buyers'] ?? {}
    await ask('DELETE', `/alerts/${id}`, { token })
    expect(await apply()).toEqual(['create buyers'])
    expect(owned['buyers']?.alert_id).not.toBe(id)
  })

  it.each([5, 6])('are made again when they were ringing as they ended, with %d in the file by then', async (value) => {
    write('a.json', [{ ...buyers, expires_in_hours: 1 }])
    await apply()
    tellCvd(10, 9)
    expect(await apply()).toEqual(['keep buyers'])
    passHours(2)
    expect(await shown()).toMatchObject({ status: 'triggered' })
    write('a.json', [{ ...buyers, expires_in_hours: 1, when: cvd(value) }])
    expect(await apply()).toEqual(['create buyers'])
    expect(await shown()).toMatchObject({ status: 'active', when: { value } })
    expect(await apply()).toEqual(['keep buyers'])
  })

  it('are made again when what was ringing as it ended was not written down', async () => {
    write('a.json', [{ ...buyers, expires_in_hours: 1 }])
    await apply()
    tellCvd(10, 9)
    passHours(2)
    owned = {}
    await apply()
    expect(await shown()).toMatchObject({ status: 'active' })
  })

  it('that ring once stay as they are after it, and are made again when they are changed', async () => {
    write('a.json', [{ ...buyers, repeat: false }])
    await apply()
    const first = owned['buyers']?.alert_id
    tellCvd(10, 9)
    expect(await apply()).toEqual(['keep buyers'])
    expect(await shown()).toMatchObject({ alert_id: first, status: 'triggered' })
    write('a.json', [{ ...buyers, repeat: false, when: cvd(20) }])
    expect(await apply()).toEqual(['change buyers'])
    expect(owned['buyers']?.alert_id).not.toBe(first)
    expect(await shown()).toMatchObject({ status: 'active', when: { value: 20 } })
    expect(await apply()).toEqual(['keep buyers'])
  })

  it('are made anew when they come back after they were taken away', async () => {
    const ids = new Set<string | undefined>()
    for (let times = 0; times < 3; times += 1) {
      write('a.json', [buyers])
      await apply()
      const id = owned['buyers']?.alert_id
      expect((await ask('GET', `/alerts/${id}`)).body).toMatchObject({ status: 'active' })
      ids.add(id)
      write('a.json', [])
      await apply()
    }
    expect(ids.size).toBe(3)
  })

  it('may be more than the API takes at once', { timeout: 15_000 }, async () => {
    await api.stop()
    api = await startAlerts({ limit: { perSecond: 20, burst: 40 } })
    const rules = Array.from({ length: 45 }, (_, at) => ({ ...buyers, name: `r${at}`, when: cvd(at) }))
    const all = (does: string): string[] => rules.map(({ name }) => `${does} ${name}`)
    write('a.json', rules)
    expect(await apply()).toEqual(all('create'))
    expect(await apply()).toEqual(all('keep'))
    write(
      'a.json',
      rules.map((rule) => ({ ...rule, note: 'n' })),
    )
    expect(await apply()).toEqual(all('change'))
    write('a.json', [])
    expect(await apply()).toEqual(all('remove'))
  })

  it('are the same in another order of their fields, and where some of them are defaults', async () => {
    write('a.json', [{ ...buyers, note: 'n' }], { webhook_url: '$HOOK' })
    await apply()
    const moved = { note: 'n', when: { value: 5, operator: 'above', metric: 'cvd' }, webhook_url: '$HOOK' }
    write('a.json', [{ name: 'buyers', ...moved }], { symbol: 'BTC' })
    expect(await apply()).toEqual(['keep buyers'])
  })

  it('are the same by a token file of before, with digests in the order of the file', async () => {
    write('a.json', [{ name: 'buyers', symbol: 'BTC', note: 'n', when: cvd(5) }])
    await apply()
    const sha256 = (value: object): string => createHash('sha256').update(JSON.stringify(value)).digest('hex')
    const digests = {
      changeable: sha256({ note: 'n', when: cvd(5) }),
      fixed: sha256({ webhook_url: env.HOOK, symbol: 'BTC' }),
    }
    owned['buyers'] = { alert_id: '', manage_token: '', webhook_secret: '', ...owned['buyers'], ...digests }
    expect(await apply()).toEqual(['keep buyers'])
  })

  it('say what cannot be changed, and what the API refuses, by file and line', async () => {
    const file = write('a.json', [buyers])
    await apply()
    write('a.json', [{ ...buyers, symbol: 'ETH' }])
    await expect(apply()).rejects.toThrow(`${file}:7: buyers: its symbols`)
    owned = {}
    write('a.json', [{ ...buyers, symbol: 'NONE' }])
    await expect(apply()).rejects.toThrow(`${file}:7: buyers: 404 symbol_not_found symbol`)
  })
})

describe('a file of rules to apply', () => {
  it.each([
    [[{ ...buyers, when: cvd(NaN) }], {}, '/rules/0/when/value (buyers): above takes a number.'],
    [[buyers, buyers], { webhook_url: 'x' }, 'buyers is the name of another rule too'],
    [[{ symbol: 'BTC', when: cvd(5) }], {}, '/rules/0/name must be a name'],
    [[buyers], { channel: { url: '$NOT_SET' } }, '/rules/0/channel/url: set NOT_SET in the environment'],
  ])('says of %j what is wrong', (rules, defaults, message) => {
    expect(() => readRules(write('a.json', rules, defaults), env)).toThrow(message)
  })

  it('says where it is broken, and that there is none', () => {
    const broken = path.join(folder, 'broken.json')
    writeFileSync(broken, '{\n  "rules": [,]\n}')
    expect(() => readRules(broken, env)).toThrow(/broken\.json: [^]*"rules": \[,\]/)
    expect(() => readRules(path.join(folder, 'none'), env)).toThrow('there is no such file or folder')
  })
})

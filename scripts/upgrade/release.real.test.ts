import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { routes } from '../../api/routes.ts'
import { ReplayedApi, type Answer } from '../../api/testing/replayed-api.ts'
import { receiverCertificate } from '../../infra/local/receiver/certificate.ts'
import { urlOf } from '../../infra/local/run-file.ts'
import { programFile } from '../../infra/local/system.ts'
import { answering, vendors } from '../../processors/webhooks/channels/testing/vendors.ts'
import { startReceiver, type Receiver } from '../../processors/webhooks/testing/world.ts'
import { recordId } from '../../schemas/record-id.ts'
import { openBooks } from '../accounts/books.ts'
import { Ledger } from '../accounts/source-ledger.ts'
import { startOwnSystem, type OwnSystem } from '../own-system.ts'
import { everyAnswer, type Everything, type Present } from './testing/every-answer.ts'
import { askFree, buyCredit, FLAGS, noteOf, RELEASE_KEY, SMALL, VENUES, type Json, type Told } from './release-data.ts'
import { folderOf, releases } from './testing/former-release.ts'

const START_MS = 400_000
const PATIENCE = { timeout: 240_000, interval: 500 }
const HOUR_MS = 3_600_000

/** What a start says once the log is in ClickHouse. */
const filled = /the tables: .* records of the log are in ClickHouse, after .* s, .* s a million/
/** For feeds to be down until their system is stopped, milliseconds. */
const HELD_MS = 600_000
/** Of the feeds' hosts the registry of tokens alone is asked. */
const WITHOUT_MARKETS = { VENUES: 'coingecko' }

const run = promisify(execFile)
const env = { ...process.env, BACKUP_KEY: RELEASE_KEY }
const command = (file: string, ...args: readonly string[]) =>
  run(process.execPath, [programFile(file), ...args], { env })

describe.each(releases)('a system of %s that was backed up, restored and started', (name) => {
  const told = JSON.parse(readFileSync(path.join(folderOf(name), 'told.json'), 'utf8')) as Told
  const root = mkdtempSync(path.join(tmpdir(), 'release-'))
  const rung: Buffer[] = []
  let chat: Receiver | undefined
  /** Of the key's credit since it was told, USDC. */
  let spent = 0
  let system: OwnSystem | undefined

  beforeAll(async () => {
    const data = path.join(root, 'first')
    await command('scripts/restore.ts', '--from', path.join(folderOf(name), 'backup'), '--data', data)
    mkdirSync(path.join(data, 'demo', 'simulator'), { recursive: true })
    await run('tar', ['-xzf', path.join(folderOf(name), VENUES), '-C', path.join(data, 'demo', 'simulator')])
    const certificate = await receiverCertificate(path.join(data, 'demo'), new Date())
    if (vendors['slack'] === undefined) throw new Error('there is no stand-in of Slack')
    chat = await startReceiver(certificate, answering(vendors['slack'], rung))
    system = await start(data)
  }, START_MS)

  afterAll(async () => {
    await system?.dispose()
    await chat?.close()
    rmSync(root, { recursive: true, force: true })
  }, START_MS)

  const start = (data: string, more: Record<string, string> = {}): Promise<OwnSystem> => {
    const settings = { ...SMALL, CHANNEL_BASES: `slack=${chat?.url ?? ''}`, ...more }
    return startOwnSystem([...FLAGS, '--payments', 'local'], settings, data)
  }

  function started(): OwnSystem {
    if (system === undefined) throw new Error('nothing was started')
    return system
  }

  const alert = ({ alert_id, manage_token }: Json, what = ''): Promise<Json> =>
    askFree(started().run(), `/alerts/${String(alert_id)}${what}`, String(manage_token))
  const key = (): Promise<Json> => askFree(started().run(), `/keys/${String(told.key['key_id'])}`, apiKey)
  const apiKey = String(told.key['api_key'])
  const rang = (which: string): number => rung.filter((body) => body.includes(noteOf(which))).length

  /** What is charged to the key. */
  async function charged(route: string): Promise<unknown> {
    const answer = await fetch(urlOf(started().run(), 'api') + route, { headers: { 'x-api-key': apiKey } })
    if (!answer.ok) throw new Error(`${route}: ${answer.status} ${await answer.text()}`)
    spent += Number(answer.headers.get('credit-charged'))
    const { timestamp: _timestamp, ...rest } = (await answer.json()) as Json
    return rest
  }

  /** Makes what there is none of in a release: an alert of each older kind, paid for by a key that has enough for all. */
  async function presentOf(): Promise<Present> {
    const bought = await buyCredit(started().run(), 50)
    const payer = String(bought['api_key'])
    const owned = ({ alert_id, manage_token }: Json) => ({ id: String(alert_id), token: String(manage_token) })
    const made = async (base: string, terms: Json): Promise<ReturnType<typeof owned>> => {
      const example = routes.find(({ method, path: at }) => method === 'POST' && at === base)?.body?.example
      const headers = { 'content-type': 'application/json', 'x-api-key': payer }
      const body = JSON.stringify({ ...example, ...terms })
      const answer = await fetch(urlOf(started().run(), 'api') + base, { method: 'POST', headers, body })
      if (answer.status !== 201) throw new Error(`${base}: ${answer.status} ${await answer.text()}`)
      return owned((await answer.json()) as Json)
    }
    const began = Date.parse(String(told.key['created_at']))
    const at = (ms: number): string => new Date(began + ms).toISOString()
    return {
      payer,
      ids: {
        '/alerts': owned(told.pending),
        '/price-alert': await made('/price-alert', { target_price: 100_000_000 }),
        '/liquidation/alert': await made('/liquidation/alert', {}),
        '/keys': { id: String(told.key['key_id']), token: apiKey },
        '/records': { id: recordId({ topic: 'market.liquidations', partition: 0, offset: 0 }), token: '' },
      },
      range: { start: at(-HOUR_MS), end: at(HOUR_MS) },
    }
  }

  /** Kills a part, and has it away for so long. */
  async function hold(part: string, ms: number): Promise<void> {
    const { status } = await fetch(`${urlOf(started().run(), 'supervisor')}/hold/${part}?ms=${ms}`, { method: 'POST' })
    expect(status).toBe(200)
  }

  /** What every route says, by an API that has kept no answer of before. */
  async function newlyAsked(has: Present): Promise<Everything> {
    await hold('api', 1)
    return everyAnswer(started().run(), has)
  }

  /** What every route says once what is past stands still. */
  async function everything(has: Present): Promise<Everything> {
    let last = await newlyAsked(has)
    const stands = async (): Promise<void> => {
      const before = last
      last = await newlyAsked(has)
      expect(last.standing).toEqual(before.standing)
    }
    await vi.waitFor(stands, PATIENCE)
    expect(last.ofNow).not.toEqual([])
    expect(JSON.stringify(last.standing)).not.toMatch(/"status":[45]\d\d,"text"/)
    return last
  }

  /** Answers about now against what the log of the system that runs gives up to their moments. */
  async function expectOfLog(answers: readonly Answer[]): Promise<void> {
    const run = started().run()
    const books = await openBooks(run, new Ledger(urlOf(run, 'simulator')))
    const replayed = await ReplayedApi.start({ ...books, reader: books.log.reader() })
    try {
      for (const answer of answers)
        expect([answer.target, await replayed.of(answer)]).toEqual([answer.target, answer.text])
    } finally {
      await replayed.stop()
      await books.close()
    }
  }

  it(
    'has the key with its credit, and rings once what was due and what had begun to hold',
    { timeout: START_MS },
    async () => {
      await expect.poll(async () => (await key())['charged_usdc'], PATIENCE).toBe(told.key['charged_usdc'])
      expect(await key()).toMatchObject({
        balance_usdc: told.key['balance_usdc'],
        bought_usdc: told.key['bought_usdc'],
      })
      await expect.poll(() => [rang('pending'), rang('armed')], PATIENCE).toEqual([1, 1])
      await expect.poll(async () => (await alert(told.armed))['trigger_count'], PATIENCE).toBe(1)
      expect(await alert(told.waiting)).toMatchObject({ status: 'active', trigger_count: 0 })
      expect(rang('waiting')).toBe(0)
    },
  )

  it(
    'says the same of alerts, deliveries and credit after a backup of it is restored',
    { timeout: 2 * START_MS },
    async () => {
      const began = Date.parse(String(told.key['created_at']))
      const at = (ms: number): string => new Date(began + ms).toISOString()
      const past = `/cvd/history/BTC?interval=1m&start=${at(-HOUR_MS)}&end=${at(HOUR_MS)}`
      const facts = async (): Promise<unknown> => {
        const { balance_usdc, bought_usdc, charged_usdc } = await key()
        const alerts = [told.pending, told.armed, told.waiting].map(async (one) => {
          const { status, trigger_count, created_at, note, when } = await alert(one)
          const { deliveries } = await alert(one, '/deliveries')
          return { status, trigger_count, created_at, note, when, deliveries }
        })
        return { balance_usdc, bought_usdc, charged_usdc, alerts: await Promise.all(alerts) }
      }
      const outcomes = async (one: Json): Promise<unknown> =>
        ((await alert(one, '/deliveries'))['deliveries'] as Json[]).map(({ outcome }) => outcome)
      for (const one of [told.pending, told.armed])
        await expect.poll(() => outcomes(one), PATIENCE).toContain('delivered')
      const asked = async (): Promise<string> => JSON.stringify(await charged(past))
      await expect.poll(asked, PATIENCE).toContain('"buy_volume"')
      const total = (): number => Number(told.key['charged_usdc']) + spent
      await expect.poll(async () => Number((await key())['charged_usdc']) - total(), PATIENCE).toBeCloseTo(0)
      const before = await vi.waitFor(facts, PATIENCE) // ClickHouse may be late on a busy machine
      const has = await presentOf()
      await everyAnswer(started().run(), has) // all is told by now: without feeds nothing comes any more
      await hold('feeds', HELD_MS)
      await expect.poll(() => readFileSync(started().logFile, 'utf8'), PATIENCE).toMatch(filled)
      const { standing, ofNow } = await everything(has)
      const { data } = started()
      const { stdout: taken } = await command('scripts/backup.ts', '--to', path.join(root, 'backup'), '--data', data)
      expect(taken).toMatch(/^backup 1: [\d.]+ MB, [\d,]+ records in [\d.]+ s$/m)
      await started().stop()
      const again = path.join(root, 'second')
      const { stdout: put } = await command('scripts/restore.ts', '--from', path.join(root, 'backup'), '--data', again)
      expect(put).toMatch(/, [\d.]+ MB, [\d,]+ records in [\d.]+ s: npm start/)
      for (const part of ['simulator', 'receiver'])
        cpSync(path.join(data, 'demo', part), path.join(again, 'demo', part), { recursive: true })
      system = await start(again, WITHOUT_MARKETS)
      await expect.poll(facts, PATIENCE).toEqual(before)
      await expect.poll(() => readFileSync(started().logFile, 'utf8'), PATIENCE).toMatch(filled)
      const after = async (): Promise<Everything> => {
        const answers = await everyAnswer(started().run(), has)
        expect(answers.standing).toEqual(standing)
        return answers
      }
      await expectOfLog([...ofNow, ...(await vi.waitFor(after, PATIENCE)).ofNow])
      console.log([taken, put, filled.exec(readFileSync(started().logFile, 'utf8'))?.[0]].join('\n'))
    },
  )
})

import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { receiverCertificate } from '../../infra/local/receiver/certificate.ts'
import { urlOf } from '../../infra/local/run-file.ts'
import { programFile } from '../../infra/local/system.ts'
import { answering, vendors } from '../../processors/webhooks/channels/testing/vendors.ts'
import { startReceiver, type Receiver } from '../../processors/webhooks/testing/world.ts'
import { startOwnSystem, type OwnSystem } from '../own-system.ts'
import { askFree, type Json } from '../paid-caller.ts'
import { FLAGS, noteOf, RELEASE_KEY, SMALL, VENUES, type Told } from './release-data.ts'
import { folderOf, releases } from './testing/former-release.ts'

const START_MS = 400_000
const PATIENCE = { timeout: 240_000, interval: 500 }
const HOUR_MS = 3_600_000

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

  const start = (data: string): Promise<OwnSystem> =>
    startOwnSystem([...FLAGS, '--payments', 'local'], { ...SMALL, CHANNEL_BASES: `slack=${chat?.url ?? ''}` }, data)

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
      const before = await facts()
      const { data } = started()
      const { stdout: taken } = await command('scripts/backup.ts', '--to', path.join(root, 'backup'), '--data', data)
      expect(taken).toMatch(/^backup 1: [\d.]+ MB, [\d,]+ records in [\d.]+ s$/m)
      await started().stop()
      const again = path.join(root, 'second')
      const { stdout: put } = await command('scripts/restore.ts', '--from', path.join(root, 'backup'), '--data', again)
      expect(put).toMatch(/, [\d.]+ MB, [\d,]+ records in [\d.]+ s: npm start/)
      for (const part of ['simulator', 'receiver'])
        cpSync(path.join(data, 'demo', part), path.join(again, 'demo', part), { recursive: true })
      system = await start(again)
      await expect.poll(facts, PATIENCE).toEqual(before)
      const filled = /the tables: .* records of the log are in ClickHouse, after .* s, .* s a million/
      await expect.poll(() => readFileSync(started().logFile, 'utf8'), PATIENCE).toMatch(filled)
      console.log([taken, put, filled.exec(readFileSync(started().logFile, 'utf8'))?.[0]].join('\n'))
    },
  )
})

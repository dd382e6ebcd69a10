import { execFile } from 'node:child_process'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { readSchemas } from '../../infra/kafka/saved-schemas.ts'
import { partitionsOf } from '../../infra/kafka/topic-settings.ts'
import { openDataFolder, type DataFolder } from '../../infra/local/data-folder.ts'
import { receiverCertificate } from '../../infra/local/receiver/certificate.ts'
import { urlOf } from '../../infra/local/run-file.ts'
import { describeSystem, type System } from '../../infra/local/system.ts'
import { topicOf, type TopicName } from '../../schemas/topics.ts'
import { openBooks, type OpenBooks } from '../accounts/books.ts'
import { lostAndDoubled } from '../accounts/compare.ts'
import { isSound, reconcile } from '../accounts/reconcile.ts'
import { reportText } from '../accounts/show.ts'
import { Ledger } from '../accounts/source-ledger.ts'
import { always } from '../accounts/totals.ts'
import { isSoundAlerts, type Disturbance } from '../chaos/alerts/account.ts'
import { alertText, startAlerts } from '../chaos/alerts/run.ts'
import { Asker } from '../chaos/asker.ts'
import { ChaosPayer, isSoundPayments } from '../chaos/payer.ts'
import { Fleet, fleetOptions } from '../testing/fleet.ts'

const START_MS = 400_000
const ROLL_MS = 1_200_000
const DRAIN_MS = 180_000
const PATIENCE = { timeout: 180_000, interval: 500 }
const PARTITIONS = 2
/** Of it none of the first alerts has quiet hours, for whose end the account would wait two minutes. */
const SEED = 406
const ALERTS_PER_SECOND = 0.5
const checkout = path.join(import.meta.dirname, '../..')
/** A field of every record of the next release, at its front: whoever read by place would read all else wrongly. */
const more = { name: 'more', type: 'string', default: 'of the next release' }
const MORE = JSON.stringify(more.default)

/** What is restarted on the first host, in the order of the guide, and on the second. */
const hosts = [
  ['processors-1', 'webhooks-1', 'payments', 'feeds-1', 'api-1'],
  ['processors-2', 'webhooks-2', 'feeds-2', 'api-2'],
] as const
/** What both releases write while they run side by side. */
const streams = ['market.trades', 'derived.flow', 'state.cvd'] as const satisfies readonly TopicName[]
const stories = ['alerts.triggers', 'webhooks.attempts', 'payments.events'] as const satisfies readonly TopicName[]

type Release = 'former' | 'next'

const root = mkdtempSync(path.join(tmpdir(), 'rolling-'))
const tree: Readonly<Record<Release, string>> = { former: checkout, next: path.join(root, 'next') }
let folder: DataFolder | undefined
let fleet: Fleet | undefined
let systems: Readonly<Record<Release, System>> | undefined

beforeAll(async () => {
  vi.stubEnv('BACKFILL_DAYS', '0')
  vi.stubEnv('BACKFILL_MINUTE_DAYS', '0')
  vi.stubEnv('SNAPSHOT_SECONDS', '2')
  makeNextRelease(tree.next)
  const { describeSystem: describeNext } = (await import(path.join(tree.next, 'infra/local/system.ts'))) as {
    readonly describeSystem: typeof describeSystem
  }
  folder = await openDataFolder(path.join(root, 'data'), 'demo', false, { partitions: PARTITIONS })
  await receiverCertificate(folder.mode, new Date())
  const options = await fleetOptions(folder, { hosts: 2, payments: 'local', rate: 60 })
  systems = { former: describeSystem(options), next: describeNext(options) }
  fleet = new Fleet(folder)
  const { former } = systems
  await fleet.start(former.stores.flat())
  await fleet.prepare(former)
  await fleet.start(former.services.filter(({ name }) => name !== 'console'))
}, START_MS)

afterAll(async () => {
  await fleet?.stop()
  folder?.release()
  vi.unstubAllEnvs()
  rmSync(root, { recursive: true, force: true })
}, START_MS)

/** This code as a later release would be: of each record and of the version there is more. */
function makeNextRelease(to: string): void {
  for (const name of ['schemas', 'processors', 'api', 'infra', 'scripts', 'package.json', 'tsconfig.json'])
    cpSync(path.join(checkout, name), path.join(to, name), {
      recursive: true,
      filter: (file) => !/\.test\.ts$|\/node_modules$|\/upgrade\/releases$/.test(file),
    })
  symlinkSync(path.join(checkout, 'node_modules'), path.join(to, 'node_modules'))
  const records = path.join(to, 'schemas/records')
  for (const name of readdirSync(records))
    change(path.join(records, name), ({ fields, ...rest }) => ({ ...rest, fields: [more, ...(fields as object[])] }))
  change(path.join(to, 'package.json'), (about) => ({ ...about, version: versionOf('next') }))
}

function change(file: string, how: (value: Readonly<Record<string, unknown>>) => object): void {
  writeFileSync(file, JSON.stringify(how(JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>)))
}

function versionOf(release: Release): string {
  const { version } = JSON.parse(readFileSync(path.join(checkout, 'package.json'), 'utf8')) as { version: string }
  return release === 'former' ? version : `${version}-next`
}

const run = promisify(execFile)

function command(release: Release, file: string, ...args: readonly string[]): Promise<{ stdout: string }> {
  return run(process.execPath, [path.join(tree[release], file), '--data', path.join(root, 'data'), ...args], {
    maxBuffer: 64 * 1024 * 1024,
  })
}

type Place = readonly [topic: TopicName, partition: number]
const places = (topics: readonly TopicName[]): Place[] =>
  topics.flatMap((topic) =>
    Array.from(
      { length: partitionsOf(topicOf(topic), { partitions: PARTITIONS }) },
      (_, partition) => [topic, partition] as const,
    ),
  )

async function endsOf({ reader }: OpenBooks, topics: readonly TopicName[]): Promise<Map<string, number>> {
  const ends = new Map<string, number>()
  for (const [topic, partition] of places(topics))
    ends.set(`${topic}/${partition}`, (await reader.offsets(topic, [partition], 'end')).get(partition) ?? 0)
  return ends
}

/** By topic, how many records each release has written, behind `since`. */
async function written(
  { reader }: OpenBooks,
  topics: readonly TopicName[],
  ofNext: ReadonlySet<number>,
  since: ReadonlyMap<string, number> = new Map(),
): Promise<Map<TopicName, Record<Release, number>>> {
  const counts = new Map(topics.map((topic) => [topic, { former: 0, next: 0 }]))
  for (const [topic, partition] of places(topics))
    for await (const records of reader.toEnd(topic, partition, since.get(`${topic}/${partition}`)))
      for (const { value } of records) {
        const count = counts.get(topic)
        if (value !== null && count !== undefined) count[ofNext.has(value.readInt32BE(1)) ? 'next' : 'former'] += 1
      }
  return counts
}

it(
  'runs beside a release of other schemas under load, forward and back again: nothing is lost, doubled or told otherwise',
  { timeout: ROLL_MS },
  async () => {
    if (fleet === undefined || systems === undefined) throw new Error('nothing was started')
    const [started, both] = [fleet, systems]
    await started.prepare(both.next, path.join(tree.next, 'infra/prepare.ts'))
    const schemas = await readSchemas(urlOf(started.run(), 'registry'))
    const ofNext = new Set(schemas.filter(({ text }) => text.includes(MORE)).map(({ id }) => id))
    expect(ofNext.size).toBe(readdirSync(path.join(tree.next, 'schemas/records')).length)
    const ledger = new Ledger(urlOf(started.run(), 'simulator'))
    const books = await openBooks(started.run(), ledger)
    const payer = await ChaosPayer.start(urlOf(started.run(), 'chain'))
    const asker = new Asker(() => `${urlOf(started.run(), 'api')}/price/BTC`)
    const alerts = await startAlerts(() => started.run(), books, { seed: SEED, perSecond: ALERTS_PER_SECOND, payer })
    const upsets: Disturbance[] = []

    /** Which releases write now: all that is looked at, or nothing yet. */
    const writers = async (since: ReadonlyMap<string, number>): Promise<string[]> => {
      const counts = await written(books, [...streams, ...stories], ofNext, since)
      const by = (topic: TopicName): Release[] =>
        (['former', 'next'] as const).filter((release) => (counts.get(topic)?.[release] ?? 0) > 0)
      const silent = stories.filter((topic) => by(topic).length === 0)
      return [...streams.map((topic) => `${topic} by ${by(topic).join(' and ')}`), ...silent]
    }
    const roll = async (to: Release, host: 0 | 1): Promise<void> => {
      const from = Date.now()
      await started.restart(both[to], hosts[host])
      upsets.push({ from, to: Date.now() })
      const since = await endsOf(books, [...streams, ...stories])
      const releases = host === 0 ? 'former and next' : to
      await expect.poll(() => writers(since), PATIENCE).toEqual(streams.map((topic) => `${topic} by ${releases}`))
    }
    const versions = (): Promise<string[]> =>
      Promise.all(
        ['api-1', 'api-2'].map(async (name) => {
          const answer = await fetch(`${urlOf(started.run(), name)}/healthz`)
          return ((await answer.json()) as { version: string }).version
        }),
      )

    try {
      const [former, next] = [versionOf('former'), versionOf('next')]
      await roll('next', 0)
      expect(await versions()).toEqual([next, former])
      await roll('next', 1)
      expect(await versions()).toEqual([next, next])
      await roll('former', 0)
      expect(await versions()).toEqual([former, next])
      await roll('former', 1)
      expect(await versions()).toEqual([former, former])

      const unanswered = await asker.stop()
      await alerts.stop()
      await ledger.pause()
      const report = await reconcile(books, always, DRAIN_MS)
      expect(isSound(report) ? 'OK' : reportText(report, ledger.name)).toBe('OK')
      expect(report.rows.flatMap(({ gaps }) => gaps)).toEqual([])
      const rung = await alerts.account(upsets)
      expect(isSoundAlerts(rung) ? 'OK' : alertText(rung)).toBe('OK')
      expect(rung.delivered).toBeGreaterThan(0)
      const paid = await payer.report()
      expect([isSoundPayments(paid), paid.receipts > 0]).toEqual([true, true])
      for (const release of ['former', 'next'] as const)
        expect((await command(release, 'scripts/backtest.ts', '--check-live')).stdout).toContain('differences 0')
      await command('former', 'scripts/export.ts', '--format', 'parquet', '--out', path.join(root, 'archive'))

      const counts = await written(books, [...streams, ...stories], ofNext)
      const texts = [...counts].map(([topic, count]) => `${topic} ${count.former} and ${count.next}`)
      const trades = report.rows.reduce((sum, { log }) => sum + log.count, 0)
      const { lost, doubled } = lostAndDoubled(report.rows)
      console.log(
        `records by the former release and the next: ${texts.join(', ')}. ${trades} trades, lost ${lost}, doubled ${doubled}; ` +
          `${rung.demanded} triggers, ${rung.delivered} delivered, ${rung.doubled} more than once; ${paid.receipts} payments; ` +
          `longest without an answer ${unanswered} ms`,
      )
    } finally {
      await asker.stop()
      await alerts.close()
      await ledger.resume()
      await books.close()
    }
  },
)

import { existsSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Registry } from 'prom-client'
import { startOps } from '../../../infra/http/ops.ts'
import type { RegistryCodec } from '../../../infra/kafka/codec.ts'
import type { Log, Membership } from '../../../infra/kafka/seam.ts'
import type { Logger } from '../../../infra/log.ts'
import { createLetterMeter, Tally } from '../../metrics.ts'
import { type FeedClock, tapeClock } from '../time/clock.ts'
import { RestHosts } from '../transport/rest-client.ts'
import { type Venue, withoutTrades } from '../venues/venue.ts'
import { venues } from '../venues/venues.ts'
import type { BackfillDays } from './backfill.ts'
import { readKnownPast } from './past-job.ts'
import { type ClockWatch, HostWatch, tapeWatch, hostClock, hostNow, hostTime } from './process-clock.ts'
import { followControl, streamedAssets, Wants } from './control.ts'
import { Feeds } from './feeds.ts'
import { type FramesWriter, openFrames } from './frames-writer.ts'
import { addressOf, type HostConfig } from './host-settings.ts'
import { InstrumentTable } from './instrument-table.ts'
import { Listings } from './listings.ts'
import { giveUpMs } from './log-buffer.ts'
import { type MarkedTopic, markedTopics } from './market-log.ts'
import { feedMetrics } from './metrics.ts'
import { PastOrders } from '../facts/past-orders.ts'
import { PastWatch } from './past-watch.ts'
import type { ReadbackPorts } from './readback.ts'
import { Resume } from './resume.ts'

const beatMs = 1_000
/** A mark has all processors of its topic work in all partitions. Rules on CVD must not stand in line behind the others. */
const othersAfterMs = 500
const otherTopics = markedTopics.filter((topic) => topic !== 'market.trades')
const tickMs = 100
/** A stop that waits longer for the broker leaves the rest to the next start. */
const drainMs = 5_000
/** Trades of the first moments would be lost to marks otherwise: how often a tape's clock may mark. */
const tapeMarkEvery = 1_000_000

interface HostParts {
  readonly log: Logger
  readonly kafka: Log
  readonly codec: RegistryCodec
  readonly membership: Membership
  readonly metrics: Registry
}

/** The feeds of one process: assembled here, with the two timers that drive them. */
export class Host {
  readonly #config: HostConfig
  readonly #parts: HostParts
  readonly #clock: FeedClock
  readonly #watch: ClockWatch
  readonly #frames: FramesWriter | undefined
  readonly #rests: RestHosts
  readonly #feeds: Feeds
  readonly #resume: Resume
  readonly #wants: Wants
  readonly #orders = new PastOrders()
  readonly #readback: ReadbackPorts
  readonly #setAside = new Tally()
  readonly #past: PastWatch
  /** Where archives lie; on one machine its disk is also that of the log. */
  readonly #archives: string
  #listings: Listings | undefined
  #stopped = false

  constructor(config: HostConfig, parts: HostParts) {
    this.#config = config
    this.#parts = parts
    const { kafka, codec, metrics, log } = parts
    const isTape = config.FEED_CLOCK === 'tape'
    this.#archives = config.ARCHIVE_DIR === '' ? path.join(tmpdir(), 'market-data-archives') : config.ARCHIVE_DIR
    this.#clock = isTape ? tapeClock() : hostClock
    this.#watch = isTape ? tapeWatch(this.#clock) : new HostWatch(hostTime, log, metrics)
    this.#wants = new Wants(streamedAssets(config.SYMBOLS))
    const counts = feedMetrics(metrics)
    this.#frames = openFrames(config, counts, log)
    const named = venuesOf(config)
    this.#rests = new RestHosts(named, {
      address: (venue, host) => addressOf(config, venue, host),
      onDate: (venue, second, mono) => hostTime.venues.told(venue, second, mono),
    })
    this.#feeds = new Feeds({
      venues: named,
      tradesOnly: isTape || config.MODE === 'tape',
      addresses: config,
      rests: this.#rests,
      partitions: config.PARTITIONS,
      feedName: config.FEED_NAME,
      clock: this.#clock,
      codec,
      writer: kafka.writer(giveUpMs),
      log,
      metrics: counts,
      frames: this.#frames,
      markEvery: isTape ? tapeMarkEvery : undefined,
      writeError: (error) => {
        // The next start repairs from the log's tail; going on would only lose more.
        throw new Error('the broker does not take a batch', { cause: error })
      },
      unknown: (venue) => this.#listings?.soon(venue),
      learn: (repairs) => void this.#resume.tell(repairs),
      venueTime: () => this.#watch.venueTime,
      logStart: (partition) => this.#resume.startOf(partition),
      backfillDays: backfillDaysOf(config),
      archiveDir: this.#archives,
      pastPaused: () => this.#past.health.state === 'paused',
      orders: this.#orders,
      knownPast: () => readKnownPast(kafka.reader(), this.#readback),
    })
    this.#past = new PastWatch(log, isTape || config.MODE === 'tape' ? noPast : backfillDaysOf(config))
    const meter = createLetterMeter(metrics, this.#setAside)
    this.#readback = { codec, lookUp: (id) => codec.lookUp(id), writer: kafka.writer(), meter, report: log }
    this.#resume = new Resume(kafka.reader(), this.#readback, config.PARTITIONS, (error) =>
      log.warn({ err: error }, 'cannot read what the log has, trying again'),
    )
  }

  /** Starts everything; resolves with the ops address when marks are being written. */
  async start(): Promise<{ url: string; stop: () => Promise<void> }> {
    const { kafka, log, metrics, membership } = this.#parts
    const { LISTINGS_SECONDS, OPS_HOST: host, OPS_PORT: port } = this.#config
    const readback = this.#readback
    this.#watch.look()
    await this.#resume.lookBack()
    const table = await InstrumentTable.read(kafka.reader(), readback)
    const listings = new Listings(table, this.#feeds.markets, LISTINGS_SECONDS * 1_000, log, () =>
      this.#feeds.list(table),
    )
    this.#listings = listings
    const [control] = await Promise.all([
      followControl({
        kafka,
        readback,
        partitions: this.#config.PARTITIONS,
        log,
        wants: this.#wants,
        orders: this.#orders,
        lost: () => this.#feeds.tradesLost(),
      }),
      listings.first(),
    ])
    membership.onChange((numbers) => this.#feeds.own(numbers))
    let others: NodeJS.Timeout | undefined
    const beat = setInterval(() => {
      this.#beat(['market.trades'])
      others = setTimeout(() => this.#feeds.beat(hostNow(), otherTopics), othersAfterMs)
    }, beatMs)
    const tick = setInterval(() => this.#feeds.tick(hostNow()), tickMs)
    this.#beat(markedTopics)
    const ops = await startOps(metrics, () => this.#health(), { host, port })
    await this.#feeds.drained()
    const stop = async (): Promise<void> => {
      this.#stopped = true
      clearInterval(tick)
      listings.stop()
      this.#resume.stop()
      this.#feeds.stop()
      this.#rests.close()
      this.#beat(markedTopics)
      clearInterval(beat)
      clearTimeout(others)
      await Promise.race([this.#feeds.drained(), delay(drainMs, undefined, { ref: false })])
      this.#feeds.close()
      await Promise.all([control.close(), this.#frames?.close(), membership.leave(), ops.close()])
    }
    return { url: ops.url, stop }
  }

  /** Once a second: who is wanted, how the venues are, and the time, which these topics are told. */
  #beat(topics: readonly MarkedTopic[]): void {
    this.#watch.look()
    const now = hostNow()
    if (!this.#stopped) {
      this.#feeds.want(this.#wants.assets(now * 1_000))
      void this.#resume.lookAtStart()
    }
    this.#feeds.beat(now, topics)
    this.#past.look(this.#feeds.past(now), now, freeBytesOf(this.#archives))
  }

  #health(): { ok: boolean } & Readonly<Record<string, unknown>> {
    const { buffered, venues: states } = this.#feeds.health('market.trades')
    return {
      ok: !this.#feeds.full && this.#watch.venueTime !== undefined,
      clock: this.#watch.health(),
      buffered,
      dead_letters: this.#setAside.report,
      backfill: this.#past.health,
      venues: states,
      sources: Object.fromEntries(otherTopics.map((topic) => [topic, this.#feeds.health(topic).venues])),
    }
  }
}

/** Of the disk of a folder, or of the nearest one above it that is there. */
function freeBytesOf(folder: string): number {
  if (!existsSync(folder)) return freeBytesOf(path.dirname(folder))
  const { bavail, bsize } = statfsSync(folder)
  return bavail * bsize
}

/** Those that are switched on, each with its trades only where they count. */
function venuesOf({ VENUES, CVD_VENUES }: HostConfig): Venue[] {
  const counted = (venue: Venue): boolean => CVD_VENUES.includes(venue.name)
  return venues
    .filter(({ name }) => VENUES.includes(name))
    .map((venue) => (counted(venue) ? venue : withoutTrades(venue)))
}

const noPast: BackfillDays = { hours: 0, minutes: 0, archives: 0 }

function backfillDaysOf(config: HostConfig): BackfillDays {
  const { BACKFILL_DAYS: hours, BACKFILL_MINUTE_DAYS: minutes, BACKFILL_ARCHIVE_DAYS: archives } = config
  return { hours, minutes, archives }
}

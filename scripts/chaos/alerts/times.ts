import type { Message, Micros, Mark } from '../../../schemas/records.ts'
import type { TopicName } from '../../../schemas/topics.ts'
import type { LogBooks } from '../../accounts/books.ts'

/** Whose marks in `alerts.inputs` have the time of one of which topic of the feeds. */
const sources: Readonly<Record<string, TopicName>> = {
  prices: 'market.tickers',
  liquidations: 'market.funding',
  liquidated: 'market.liquidations',
}
/** Nothing is further ahead of the judge's own clock. */
const AHEAD_MAX: Micros = 5_000_000
/** Marks are looked at from this long after the begin on, and those that they follow from before it. */
const MARGIN_MS = 10_000

interface TimeBooks extends LogBooks {
  /** From when on the log is judged, milliseconds. */
  readonly since: number
  /** The judge's own clock, which is right, milliseconds. */
  readonly now: () => number
}

/**
 * What is wrong with time in the log of alerts: marks and prices from the future, marks that follow from none that may be
 * followed, alerts that were called expired before they are.
 */
export async function timeFaults(books: TimeBooks): Promise<string[]> {
  const faults: string[] = []
  const latest = books.now() * 1_000 + AHEAD_MAX
  for (let partition = 0; partition < books.partitions; partition++) {
    const marks: { source: TopicName; time: Micros }[] = []
    // What marks follow from is read after them, so that none of it can be missing.
    await read(books, 'alerts.inputs', partition, books.since, ({ type, value }) => {
      if (type !== 'mark' && type !== 'composite_price') return
      if (value.time > latest) faults.push(`a ${type} in alerts.inputs-${partition} of ${timeText(value.time)}`)
      if (type !== 'mark' || value.time < (books.since + MARGIN_MS) * 1_000) return
      const source = sources[value.writer]
      if (source !== undefined) marks.push({ source, time: value.time })
    })
    await read(books, 'alerts.events', partition, books.since, ({ type, value }) => {
      if (type !== 'alert_event' || value.event !== 'expired' || value.alert === null) return
      if (value.alert.expires_at > latest)
        faults.push(`${value.alert_id} expired before ${timeText(value.alert.expires_at)}`)
    })
    const followed = new Map<TopicName, ReadonlySet<Micros>>()
    for (const source of new Set(marks.map((mark) => mark.source))) {
      const plain = new PlainTime()
      await read(books, source, partition, books.since - MARGIN_MS, ({ type, value }) => {
        if (type === 'mark') plain.take(value)
      })
      followed.set(source, plain.followed)
    }
    for (const { source, time } of marks) {
      if (followed.get(source)?.has(time) === true) continue
      faults.push(`a mark in alerts.inputs-${partition} of ${timeText(time)}, which ${source} does not confirm`)
    }
  }
  return faults
}

async function read(
  { reader, codec }: TimeBooks,
  topic: TopicName,
  partition: number,
  since: number,
  take: (message: Message) => void,
): Promise<void> {
  const from = (await reader.offsets(topic, [partition], { time: since })).get(partition)
  for await (const records of reader.toEnd(topic, partition, from)) {
    for (const { value } of records) if (value !== null) take(codec.decode(value))
  }
}

function timeText(time: Micros): string {
  return new Date(time / 1_000).toISOString()
}

const SECOND: Micros = 1_000_000
/** A feed's clock is believed this far ahead of what its venues say. */
const BELIEVED = 5 * SECOND
/** And this far ahead of the last mark where it says nothing of its venues. */
const STEP = 60 * SECOND

/**
 * The rule of partition time once more, as plainly as it can be written and with nothing of the kernel's code: which marks
 * of one partition of a topic that feeds write may be followed.
 */
export class PlainTime {
  /** Times of the marks that may be followed. */
  readonly followed = new Set<Micros>()
  #newest: Micros = 0
  #doubted: Micros | undefined

  /** Whether the mark may be followed. */
  take({ time, venue_time: told }: Mark): boolean {
    const isBelieved = told === null ? this.#isStep(time) : time - told <= BELIEVED
    if (isBelieved) {
      this.followed.add(time)
      this.#newest = Math.max(this.#newest, time)
    }
    if (isBelieved) this.#doubted = undefined
    else if (told === null) this.#doubted = time
    return isBelieved
  }

  /** The first, a small step, or a second mark that is as far ahead as the one before. */
  #isStep(time: Micros): boolean {
    if (this.#newest === 0 || time - this.#newest <= STEP) return true
    return this.#doubted !== undefined && this.#doubted - time <= BELIEVED
  }
}

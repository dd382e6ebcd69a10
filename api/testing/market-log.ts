import { emptyFields } from '../../schemas/codec.ts'
import { partitionOf } from '../../schemas/catalogue.ts'
import type { OutRecord } from '../../infra/kafka/seam.ts'
import type { RecordType, Records } from '../../schemas/records.ts'
import { listed } from '../../schemas/testing/instrument.ts'
import type { TopicName } from '../../schemas/topics.ts'
import { venueNames } from '../../schemas/venues.ts'
import type { FakeMarket } from './fake-market.ts'
import type { LogTarget } from './facts.ts'
import { marketTopics } from './market-facts.ts'

const HOUR = 3_600_000_000
/** Records of one send. */
const BATCH = 500

/**
 * Writes a market's records to the log, each latest value after one that it replaces, and a mark of the feeds at
 * `target.now` into every partition. Liquidations get the places in `market` that they have in the log.
 */
export async function fillMarketLog(target: LogTarget, market: FakeMarket): Promise<void> {
  const batches = new Batches(target)
  const old = target.now - HOUR
  for (const value of market.tickers) {
    batches.put('market.tickers', 'spot_ticker', { ...value, price: 1, time: old, received: old })
    batches.put('market.tickers', 'spot_ticker', value)
  }
  for (const value of market.derivatives) batches.put('market.funding', 'derivative_ticker', value)
  for (const value of market.settlements) batches.put('market.funding', 'settlement', value)
  for (const value of market.ratios) {
    batches.put('market.funding', 'long_short_ratio', { ...value, ls_ratio: 9, time: old, received: old })
    batches.put('market.funding', 'long_short_ratio', value)
  }
  for (const value of market.funding) {
    batches.put('derived.funding', 'funding', { ...value, exchanges: [], v: 0 })
    batches.put('derived.funding', 'funding', value)
  }
  for (const value of market.prices) {
    batches.put('alerts.inputs', 'composite_price', { ...value, price: 1, time: old, v: 0 })
    batches.put('alerts.inputs', 'composite_price', value)
  }
  for (const value of market.risks) {
    batches.put('alerts.inputs', 'liquidation_risk', { ...value, price: 1, time: old, v: 0 })
    batches.put('alerts.inputs', 'liquidation_risk', value)
  }
  for (const value of market.tokens) batches.put('market.tokens', 'token', value, { key: value.id, partition: 0 })
  putInstruments(target, batches, market)
  putLiquidations(target, batches, market)
  putMarks(target, batches)
  await batches.send()
}

/** Records by topic and partition, in the order in which they were put. */
class Batches {
  readonly #target: LogTarget
  readonly #batches = new Map<string, { topic: TopicName; partition: number; records: OutRecord[] }>()

  constructor(target: LogTarget) {
    this.#target = target
  }

  put<Type extends RecordType>(topic: TopicName, type: Type, value: Records[Type], position?: RecordTarget): void {
    const asset = 'asset' in value && typeof value.asset === 'string' ? value.asset : ''
    const { codec, partitions, now } = this.#target
    const { key, partition } = position ?? { key: asset, partition: partitionOf(asset, partitions) }
    const name = `${topic}/${partition}`
    const batch = this.#batches.get(name) ?? { topic, partition, records: [] }
    this.#batches.set(name, batch)
    batch.records.push({ key, value: codec.encode(topic, type, value), time: now / 1000 })
  }

  async send(): Promise<void> {
    for (const { topic, partition, records } of this.#batches.values())
      for (let at = 0; at < records.length; at += BATCH)
        await this.#target.log.writer().send(topic, partition, records.slice(at, at + BATCH))
  }
}

interface RecordTarget {
  readonly key: string
  readonly partition: number
}

/** Every market that the records name is listed. */
function putInstruments({ now }: LogTarget, batches: Batches, { tickers, funding }: FakeMarket): void {
  const named = [...tickers, ...funding.flatMap(({ asset, exchanges }) => exchanges.map((row) => ({ ...row, asset })))]
  for (const { instrument, asset } of named) {
    const row = listed(instrument, { asset, valid_from: now })
    batches.put('market.instruments', 'instrument', row, { key: instrument, partition: 0 })
  }
}

function putLiquidations({ partitions }: LogTarget, batches: Batches, market: FakeMarket): void {
  const ends = new Map<number, number>()
  market.liquidations = market.liquidations
    .toSorted((a, b) => a.time - b.time)
    .map(({ partition: _p, offset: _o, ...value }) => {
      const partition = partitionOf(value.asset, partitions)
      const offset = ends.get(partition) ?? 0
      ends.set(partition, offset + 1)
      batches.put('market.liquidations', 'liquidation', value)
      return { ...value, partition, offset }
    })
}

/** A feed process of its own has all channels alive, and prices are made of what they say. */
function putMarks({ partitions, now }: LogTarget, batches: Batches): void {
  const since = now - 2 * HOUR
  const venues = venueNames.map((venue) => ({ venue, state: 'live' as const, sockets: 1, since }))
  const mark = { ...emptyFields('mark'), writer: 'feeds-b', run: since, time: now, venues }
  for (const topic of marketTopics)
    for (let partition = 0; partition < partitions; partition++)
      batches.put(topic, 'mark', mark, { key: 'feeds-b', partition })
  const priced = { ...emptyFields('mark'), writer: 'prices', run: 0, time: now }
  for (let partition = 0; partition < partitions; partition++)
    batches.put('alerts.inputs', 'mark', priced, { key: 'prices', partition })
}

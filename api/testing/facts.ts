import fc from 'fast-check'
import type { Log } from '../../infra/kafka/seam.ts'
import { emptyFields } from '../../schemas/codec.ts'
import { partitionOf } from '../../schemas/catalogue.ts'
import type { Codec } from '../../schemas/codec.ts'
import type { Flow, Gap, Message, Micros, RecordType, Records } from '../../schemas/records.ts'
import { listed } from '../../schemas/testing/instrument.ts'
import type { TopicName } from '../../schemas/topics.ts'
import { tradeVenues } from '../../schemas/venues.ts'
import { flowKey } from '../../processors/cvd/bucket.ts'
import { fiveKey } from '../../processors/cvd/five-minutes.ts'
import { hourKey } from '../../processors/cvd/hours.ts'
import { cvdKey } from '../../processors/cvd/volumes.ts'
import { candleOf, rowOf } from './fake-present.ts'
import { plainCvd } from './plain-cvd.ts'
import { instrumentOf, type FakeDatabase, type FakeFlow } from './fake-database.ts'

const SECOND = 1_000_000
const HOUR = 3_600 * SECOND
/** Nobody was subscribed to BTC on Binance for a while from then on. */
const ENDED_AGO = 30 * HOUR

export interface LogTarget {
  readonly log: Log
  readonly codec: Codec
  readonly partitions: number
  /** Time of every mark and record. */
  readonly now: Micros
}

/** Three days of BTC before `now`, with a gap of each kind; OKX has closed its market. */
export function fillViews(fake: FakeDatabase, now: Micros): void {
  fake.flows = flows(now - (now % (10 * SECOND)))
  fake.instruments = tradeVenues.map(({ venue, market }) => ({
    asset: 'btc',
    venue,
    market,
    base: 'BTC',
    live: venue !== 'okx',
  }))
  fake.gaps = [
    { asset: 'btc', venue: 'okx', state: 'unfillable', from: now - 90 * SECOND, to: now - 80 * SECOND, missing: 4 },
    { asset: 'btc', venue: 'binance', state: 'filled', from: now - HOUR, to: now - HOUR + 5, missing: null },
    { asset: 'btc', venue: 'bybit', state: 'opened', from: now - 50 * HOUR, to: now - 49 * HOUR, missing: null },
  ]
  const from = now - ENDED_AGO
  const next = fake.flows
    .filter(({ venue, open_time }) => venue === 'binance' && open_time > from)
    .map(({ open_time }) => open_time)
  fake.unsubscribed = [{ asset: 'btc', venue: 'binance', from, next: Math.min(...next) }]
}

/** The facts of the views in memory as records of the log; marks last. */
export async function fillLog(target: LogTarget, fake: FakeDatabase): Promise<void> {
  const { now, partitions } = target
  const partition = partitionOf('btc', partitions)
  const wif = listing('binance', 'wif', now)
  await put(target, 'market.instruments', 0, [...tradeVenues.map(({ venue }) => listing(venue, 'btc', now)), wif])
  await put(
    target,
    'market.trades',
    partition,
    fake.gaps.map((gap) => gapOf(gap, now)),
  )
  // The first version of each row is replaced by the second.
  const wrong = fake.flows.map((flow) => flowOf({ ...flow, buy: flow.buy + 9, price: 1 }, 1))
  await put(target, 'derived.flow', partition, wrong)
  await put(
    target,
    'derived.flow',
    partition,
    fake.flows.map((flow) => flowOf(flow, 2)),
  )
  await put(target, 'derived.flow', partition, hoursOf(fake.flows.map(rowOf)))
  await put(target, 'derived.flow', partition, fivesOf(fake.flows.map(rowOf)))
  await put(
    target,
    'market.history',
    partition,
    fake.pasts.map((candle): [string, Message<'venue_candle'>] => {
      const value = candleOf(candle)
      return [value.asset, { type: 'venue_candle', value }]
    }),
  )
  await putMarks(target, now)
}

/** What CVD counts of BTC at `time`. */
export async function putCvd(target: LogTarget, fake: FakeDatabase, time: Micros): Promise<void> {
  const value = { ...plainCvd('btc', fake.flows.map(rowOf), { now: time }), v: 3 }
  await put(target, 'derived.flow', partitionOf('btc', target.partitions), [[cvdKey(value), { type: 'cvd', value }]])
}

/** What feeds and CVD say of themselves at `time`; marks that are too old make venues stale. */
export async function putMarks(target: LogTarget, time: Micros): Promise<void> {
  const ours = partitionOf('btc', target.partitions)
  const derived = { ...emptyFields('mark'), writer: 'cvd', run: 0, time }
  for (const partition of Array.from({ length: target.partitions }, (_, index) => index)) {
    await put(target, 'market.trades', partition, [['feeds', feedMark(time, partition === ours, target.now)]])
    await put(target, 'derived.flow', partition, [['cvd', { type: 'mark', value: derived }]])
  }
}

async function put<Type extends RecordType>(
  { log, codec, now }: LogTarget,
  topic: TopicName,
  partition: number,
  rows: [string, Message<Type>][],
): Promise<void> {
  const records = rows.map(([key, { type, value }]) => ({
    key,
    value: codec.encode(topic, type, value as Records[Type]),
    time: now / 1000,
  }))
  await log.writer().send(topic, partition, records)
}

/** Rows of three days; sizes are multiples of 2^-10, so that sums are exact in any order. */
function flows(open: Micros): FakeFlow[] {
  const row = fc.record({
    venue: fc.constantFrom(...tradeVenues.map(({ venue }) => venue)),
    age: fc.oneof(fc.nat(400), fc.nat(26_000)),
    part: fc.constantFrom(0, 0, 0, 77),
    buy: fc.nat(1e6).map((size) => size / 1024),
    sell: fc.nat(1e6).map((size) => size / 1024),
    price: fc.integer({ min: 90, max: 110 }),
  })
  const rows = fc.sample(row, { numRuns: 400, seed: 7 }).map(({ age, ...rest }, index) => {
    const bucket = open - age * 10 * SECOND
    return { asset: 'btc', ...rest, bucket, open_time: bucket + index, close_time: bucket + 5 * SECOND + index }
  })
  return [...new Map(rows.map((flow) => [`${flow.venue}|${flow.bucket}|${flow.part}`, flow])).values()]
}

function hoursOf(rows: readonly Flow[]): [string, Message<'flow_hour'>][] {
  return sumsOf(rows, HOUR).map(({ start: hour, ...sums }) => {
    const value = { ...sums, hour }
    return [hourKey(value), { type: 'flow_hour', value }]
  })
}

function fivesOf(rows: readonly Flow[]): [string, Message<'flow_five'>][] {
  return sumsOf(rows, 300 * SECOND).map((sums) => {
    const { final: _, ...value } = sums
    return [fiveKey(value), { type: 'flow_five', value }]
  })
}

/** Of times of a width by the plainest computation; a late trade is a row of its own. */
function sumsOf(rows: readonly Flow[], width: Micros): (Omit<Flow, 'bucket'> & { readonly start: Micros })[] {
  const startOf = ({ bucket }: Flow): Micros => bucket - (bucket % width)
  const keyOf = (row: Flow): string => [row.instrument, startOf(row), Math.min(0, row.part)].join('|')
  return [...Map.groupBy(rows, keyOf).values()].flatMap((own) => {
    const opened = own.toSorted((a, b) => a.open_time - b.open_time)[0]
    const closed = own.toSorted((a, b) => b.close_time - a.close_time)[0]
    if (opened === undefined || closed === undefined) return []
    const sum = (name: 'buy' | 'sell' | 'buy_quote' | 'sell_quote' | 'buy_count' | 'sell_count'): number =>
      own.reduce((total, row) => total + row[name], 0)
    const { bucket: _, ...last } = closed
    const value = {
      ...last,
      start: startOf(closed),
      part: Math.min(0, closed.part),
      buy: sum('buy'),
      sell: sum('sell'),
      buy_quote: sum('buy_quote'),
      sell_quote: sum('sell_quote'),
      buy_count: sum('buy_count'),
      sell_count: sum('sell_count'),
      open: opened.open,
      open_time: opened.open_time,
      high: Math.max(...own.map(({ high }) => high)),
      low: Math.min(...own.map(({ low }) => low)),
    }
    return [value]
  })
}

function flowOf(flow: FakeFlow, v: number): [string, Message<'flow'>] {
  const value = { ...rowOf(flow), v }
  return [flowKey(value), { type: 'flow', value }]
}

function gapOf(
  { asset, venue, state, from, to, missing }: FakeDatabase['gaps'][number],
  now: Micros,
): [string, Message<'gap'>] {
  const known: Gap['state'] = state === 'filled' || state === 'opened' ? state : 'unfillable'
  const ids = { gap_id: from, from_id: null, to_id: null, missing }
  const fields = { state: known, reason: 'missing_ids', feed: 'feeds', time: now, from_time: from, to_time: to }
  return [asset, { type: 'gap', value: { instrument: instrumentOf({ venue, asset }), asset, ...ids, ...fields } }]
}

function listing(venue: string, asset: string, now: Micros): [string, Message<'instrument'>] {
  const instrument = instrumentOf({ venue, asset })
  const status = venue === 'okx' ? 'closed' : 'live'
  return [instrument, { type: 'instrument', value: listed(instrument, { asset, status, valid_from: now }) }]
}

function feedMark(time: Micros, isOurs: boolean, now: Micros): Message<'mark'> {
  const since = now - HOUR
  const venues = tradeVenues.map(({ venue }) => ({ venue, state: 'live' as const, sockets: 2, since }))
  const changes = tradeVenues.map(({ venue }) => ({
    instrument: instrumentOf({ venue, asset: 'btc' }),
    asset: 'btc',
    state: 'acknowledged' as const,
    time: since,
  }))
  const instrument = instrumentOf({ venue: 'binance', asset: 'btc' })
  const ended = { instrument, asset: 'btc', state: 'ended' as const, time: now - ENDED_AGO }
  const gaps = isOurs ? [ended, ...changes] : []
  return {
    type: 'mark',
    value: { writer: 'feeds', run: since, time, venues, changes: gaps, venue_time: time, positions: [] },
  }
}

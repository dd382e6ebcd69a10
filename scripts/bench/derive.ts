import { FUNDING } from '../../processors/funding/funding.ts'
import { versionOf } from '../../processors/kernel/version.ts'
import { LIQUIDATIONS } from '../../processors/liquidations/liquidations.ts'
import { PRICES } from '../../processors/prices/prices.ts'
import { processorsNamed } from '../../processors/topology.ts'
import { localCodec, emptyFields } from '../../schemas/codec.ts'
import type { DerivativeTicker, Message, SpotTicker } from '../../schemas/records.ts'
import { fundingVenues, instrumentId, priceVenues } from '../../schemas/venues.ts'
import type { Bench, Figure } from '../figure.ts'
import { startCost } from './system/cost.ts'

const SECOND = 1_000_000
const T0 = 1_786_060_800 * SECOND
/** Assets of one partition of twelve, at 1,200 markets. */
const ASSETS = 100
/** Seconds of the log's own time. */
const SECONDS = 900
const BATCH = 500
const RUNS = 3

/** Each core over one partition's log, decoding and encoding included, against decoding the same records alone. */
const bench: Bench = async () => [
  ...figuresOf(PRICES, 'market.tickers', [...tickers()]),
  ...figuresOf(FUNDING, 'market.funding', [...perpetuals()]),
  ...figuresOf(LIQUIDATIONS, 'market.funding', [...perpetuals()]),
]

export default bench

const codec = localCodec()

/** What a pass over the log has made. */
interface Made {
  outputs: number
  outputBytes: number
  stateBytes: number
}

function figuresOf(name: string, topic: 'market.tickers' | 'market.funding', log: readonly Message[]): Figure[] {
  const bytes = log.map(({ type, value }) => codec.encode(topic, type, value))
  const decoding = best(() => {
    for (const record of bytes) codec.decode(record)
  })
  let made: Made = { outputs: 0, outputBytes: 0, stateBytes: 0 }
  const folding = best(() => {
    made = fold(name, topic, bytes)
  })
  const n = bytes.length
  const perHour = 3_600 / SECONDS
  const rates = { value: n / folding, baseline: n / decoding }
  return [
    { metric: `${name}: records into outputs, against decoding`, ...rates, unit: 'records/s', n },
    { metric: `${name}: outputs`, value: made.outputs / SECONDS, unit: 'records/s', n },
    { metric: `${name}: outputs`, value: (made.outputBytes / 1e6) * perHour, unit: 'MB/h', n },
    { metric: `${name}: states written`, value: (made.stateBytes / 1e6) * perHour, unit: 'MB/h', n },
  ]
}

/** The least CPU time of some runs, seconds. */
function best(work: () => void): number {
  let seconds = Infinity
  for (let run = 0; run < RUNS; run++) {
    const ended = startCost()
    work()
    seconds = Math.min(seconds, ended().cpu)
  }
  return seconds
}

/** As the task does it: decode, apply, encode; the state every 5 s. */
function fold(name: string, topic: 'market.tickers' | 'market.funding', log: readonly Buffer[]): Made {
  const [row] = processorsNamed([name])
  if (row === undefined) throw new Error(`no processor ${name}`)
  const { core } = row
  const state = core.empty()
  const made: Made = { outputs: 0, outputBytes: 0, stateBytes: 0 }
  const context = { partition: 0, v: 0, partitionTime: 0 }
  let savedAt = 0
  for (const [offset, bytes] of log.entries()) {
    const message = codec.decode(bytes)
    context.v = versionOf(1, offset)
    if (message.type === 'mark') context.partitionTime = message.value.time
    core.apply(state, { topic, offset, time: 0, message }, context, (output) => {
      if (output.message === null) return
      made.outputs += 1
      made.outputBytes += codec.encode(output.topic, output.message.type, output.message.value).length
    })
    if (offset % BATCH === 0) core.flush?.(state, () => undefined)
    if (context.partitionTime - savedAt < 5 * SECOND) continue
    savedAt = context.partitionTime
    for (const [key, part] of core.save(state)) made.stateBytes += key.length + (part?.length ?? 0)
  }
  return made
}

/** Five venues, a ticker each 5 s of most assets and each second of two, a mark a second. */
function* tickers(): Generator<Message> {
  for (let second = 0; second < SECONDS; second++) {
    for (let asset = 0; asset < ASSETS; asset++) {
      if (asset > 1 && second % 5 !== asset % 5) continue
      for (const [n, venue] of priceVenues.entries()) yield ticker(venue, asset, T0 + second * SECOND + n * 100_000)
    }
    yield mark(T0 + (second + 1) * SECOND)
  }
}

/** Three venues, a ticker each 15 s of most assets and each second of two, a premium a minute, a mark a second. */
function* perpetuals(): Generator<Message> {
  for (let asset = 0; asset < ASSETS; asset++) for (const venue of fundingVenues) yield terms(venue, asset)
  for (let second = 0; second < SECONDS; second++) {
    for (let asset = 0; asset < ASSETS; asset++) {
      for (const [n, venue] of fundingVenues.entries()) {
        const time = T0 + second * SECOND + n * 100_000
        if (asset <= 1 || second % 15 === asset % 15) yield derivative(venue, asset, time, false)
        if (second % 60 === asset % 60) yield derivative(venue, asset, time, true)
      }
    }
    yield mark(T0 + (second + 1) * SECOND)
  }
}

function ticker(venue: string, asset: number, time: number): Message {
  const price = priceOf(asset, time, venue.length)
  const value: SpotTicker = {
    instrument: instrumentId(venue, 'spot', `A${asset}USDT`),
    asset: `a${asset}`,
    bid: price,
    ask: price,
    last: price,
    price,
    low: price * 0.9999,
    high: price * 1.0001,
    change_24h: 1.5,
    volume_24h: 1_000,
    quote_volume_24h: 1_000 * price,
    quote: 'USDT',
    quote_usd: 0.9998,
    time: time - 50_000,
    received: time,
  }
  return { type: 'spot_ticker', value }
}

function derivative(venue: string, asset: number, time: number, isPremium: boolean): Message {
  const price = priceOf(asset, time, venue.length)
  const value: DerivativeTicker = {
    instrument: instrumentId(venue, 'perp', `A${asset}USDT`),
    asset: `a${asset}`,
    channel: 'bench',
    rate: isPremium ? null : 0.0001,
    next_settlement: isPremium ? null : T0 + 8 * 3_600 * SECOND,
    rate_time: isPremium ? null : time,
    mark: isPremium ? null : price,
    index: isPremium ? null : price * 0.9999,
    mark_time: isPremium ? null : time,
    premium: isPremium ? 0.0002 : null,
    premium_time: isPremium ? time - 60 * SECOND : null,
    open_interest: isPremium ? null : 10_000 * (1 + 0.02 * Math.sin(time / SECOND / 97 + asset)),
    open_interest_time: isPremium ? null : time,
    received: time,
  }
  return { type: 'derivative_ticker', value }
}

function terms(venue: string, asset: number): Message {
  const fields = { ...emptyFields('contract_terms'), asset: `a${asset}`, interval_hours: 8, received: T0 }
  return { type: 'contract_terms', value: { ...fields, instrument: instrumentId(venue, 'perp', `A${asset}USDT`) } }
}

/** Wanders by some percent over the log, a little differently on each venue. */
function priceOf(asset: number, time: number, venue: number): number {
  return (
    (asset + 1) * (100 + 2 * Math.sin(time / SECOND / 211 + asset) + 0.3 * Math.sin(time / SECOND / 7) + venue / 1_000)
  )
}

function mark(time: number): Message {
  const venues = priceVenues.map((venue) => ({ venue, state: 'live' as const, sockets: 1, since: T0 }))
  return {
    type: 'mark',
    value: { ...emptyFields('mark'), writer: 'feeds', run: T0, time, venues },
  }
}

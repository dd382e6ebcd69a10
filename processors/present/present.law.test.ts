import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { localCodec, emptyFields } from '../../schemas/codec.ts'
import type { Gap, Liquidation, Message, RecordType, Records } from '../../schemas/records.ts'
import type { TopicName } from '../../schemas/topics.ts'
import { Driver } from '../kernel/testing/driver.ts'
import { StateFold } from '../kernel/snapshot.ts'
import { PARTITIONS, plans } from '../kernel/testing/fault-plans.ts'
import { isHeld, presentReads, presentRow, takeIn } from './present.ts'
import {
  COUNTED,
  drop,
  emptyPresent,
  heldKinds,
  loadPresent,
  put,
  savePresent,
  STRETCH,
  type HeldKind,
  type LoggedLiquidation,
  type PresentState,
} from './state.ts'
import { sumsOf } from './liquidation-sums.ts'
import { bounded, LAW_MS } from '../kernel/testing/law.ts'

const SECOND = 1_000_000
const DAY = 24 * 3_600 * SECOND
const T0 = 1_786_060_800 * SECOND
const codec = localCodec()

interface Step {
  readonly topic: TopicName
  readonly partition: number
  readonly message: Message
}

/** Whole records of a type with what is given, the rest the same for all. */
function record<Type extends RecordType>(type: Type, value: Partial<Records[Type]>): Message {
  const whole: object = { type, value: { ...blank[type], ...value } }
  return whole as Message // the two belong together
}

const common = { asset: 'btc', instrument: 'binance:spot:BTCUSDT', time: T0, received: T0 }
const blank: Readonly<Partial<Record<RecordType, object>>> = {
  spot_ticker: {
    ...emptyFields('spot_ticker'),
    ...common,
    last: 1,
    price: 1,
    low: 1,
    high: 1,
    quote: 'USDT',
    quote_usd: 1,
  },
  composite_price: {
    asset: 'btc',
    price: 1,
    low: 1,
    high: 1,
    change_24h: null,
    sources: [],
    quality: 'good',
    late: false,
    bounds_from: 0,
    time: T0,
    v: 1,
  },
  funding: { ...emptyFields('funding'), asset: 'btc', time: T0, v: 1 },
  settlement: { ...common, settled_rate: 0, mark: null },
  long_short_ratio: {
    ...common,
    cohort: 'top_traders',
    basis: 'positions',
    long_ratio: 1,
    short_ratio: 1,
    ls_ratio: 1,
  },
  contract_terms: {
    ...emptyFields('contract_terms'),
    asset: 'btc',
    instrument: 'x',
    interval_hours: 8,
    received: T0,
  },
  liquidation: {
    ...common,
    id: '',
    side: 'long',
    size: 1,
    price: 1,
    price_kind: 'order',
    value: 1,
    completeness: 'all',
  },
  liquidation_risk: {
    ...emptyFields('liquidation_risk'),
    asset: 'btc',
    price: 1,
    open_interest_usd: 1,
    at_risk_5_usd: 1,
    at_risk_5_pct: 1,
    at_risk_10_usd: 1,
    at_risk_10_pct: 1,
    cascade_risk: 'low',
    swept_long_usd: 1,
    swept_short_usd: 1,
    since: T0,
    time: T0,
    v: 1,
  },
  venue_candle: {
    ...emptyFields('venue_candle'),
    ...common,
    start: T0,
    seconds: 3_600,
    open: 1,
    high: 2,
    low: 1,
    close: 2,
    volume: 2,
    taker_buy: 1,
    source: 'venue_candles',
  },
  gap: {
    ...emptyFields('gap'),
    instrument: 'okx:perp:BTC',
    asset: 'btc',
    gap_id: 1,
    state: 'opened',
    reason: '',
    from_time: T0,
    to_time: T0,
    feed: 'feeds',
    time: T0,
  },
}

const noFlow = record('flow', emptyFields('flow')).value as Records['flow'] // as asked for

function gapOf(value: Partial<Gap>): Gap {
  return { ...blank.gap, ...value } as Gap // nothing is left out
}

const partition = fc.nat(PARTITIONS - 1)
/** Around a day, so that liquidations leave the window in the middle of a log. */
const time = fc
  .oneof(fc.integer({ min: 0, max: 900 }), fc.integer({ min: 86_000, max: 90_000 }))
  .map((seconds) => T0 + seconds * SECOND)
const price = fc.integer({ min: 900, max: 1_100 }).map((n) => n / 7)
const asset = fc.constantFrom('btc', 'eth')

function of(topic: TopicName, message: fc.Arbitrary<Message>): fc.Arbitrary<Step> {
  return fc.record({ topic: fc.constant(topic), partition, message })
}

const steps = fc.oneof(
  of(
    'market.tickers',
    fc
      .record({ time, price, asset, venue: fc.constantFrom('binance', 'okx') })
      .map(({ time, price, asset, venue }) =>
        record('spot_ticker', { price, asset, instrument: `${venue}:spot:${asset}`, time, received: time }),
      ),
  ),
  of(
    'alerts.inputs',
    fc.record({ time, price, asset }).map((given) => record('composite_price', given)),
  ),
  of(
    'alerts.inputs',
    fc.record({ time, asset, v: fc.nat(9), since: fc.constantFrom(T0, T0 + 60 * SECOND) }).map((given) => {
      return record('liquidation_risk', given)
    }),
  ),
  of(
    'derived.funding',
    fc.record({ time, asset }).map((given) => record('funding', { ...given, v: (given.time - T0) / SECOND })),
  ),
  of(
    'market.funding',
    fc.record({ time, settled_rate: price }).map((given) => record('settlement', given)),
  ),
  of(
    'market.funding',
    fc.record({ time, ls_ratio: price }).map((given) => record('long_short_ratio', given)),
  ),
  of(
    'market.funding',
    fc.record({ received: time, interest_daily: price }).map((given) => record('contract_terms', given)),
  ),
  of(
    'market.liquidations',
    fc
      .record({ time, asset, value: price, side: fc.constantFrom('long' as const, 'short' as const), id: fc.nat(40) })
      .map(({ id, time, ...given }) => record('liquidation', { ...given, id: String(id), time, received: time })),
  ),
  of(
    'market.history',
    fc
      .record({
        start: fc.integer({ min: -200, max: 2 }).map((hours) => T0 + hours * 3_600 * SECOND),
        taker_buy: fc.option(price),
        seconds: fc.constantFrom(3_600, 60),
        source: fc.constantFrom('archive' as const, 'venue_candles' as const),
        instrument: fc.constantFrom('binance:perp:BTCUSDT', 'okx:perp:BTC-USDT-SWAP'),
      })
      .map((given) => record('venue_candle', given)),
  ),
  of(
    'market.history',
    fc.record({ time, settled_rate: price }).map((given) => record('settlement', given)),
  ),
  of(
    'market.trades',
    fc
      .record({ gap_id: fc.nat(4), asset, state: fc.constantFrom('opened' as const, 'filled' as const), time })
      .map((given) => record('gap', given)),
  ),
  fc
    .record({
      topic: fc.constantFrom<TopicName>('market.trades', 'market.tickers', 'market.liquidations'),
      partition,
      time,
      run: fc.constantFrom(1, 2),
      ended: fc.boolean(),
    })
    .map(({ topic, partition, time, run, ended }): Step => {
      const venues = [{ venue: 'okx', state: 'live' as const, sockets: 1, since: T0 }]
      const state = ended ? ('ended' as const) : ('acknowledged' as const)
      const changes = [{ instrument: 'okx:perp:BTC', asset: 'btc', state, time }]
      const value = { writer: 'feeds', run, time, venues, changes, venue_time: time, positions: [] }
      return { topic, partition, message: { type: 'mark', value } }
    }),
)

const logs = fc.array(steps, { maxLength: 120, size: 'max' })

/** All that is held, in an order of its own. */
function held(state: PresentState): unknown {
  return ofKinds(state, heldKinds)
}

/**
 * What follows from one topic each. What was observed since the model's start follows from two: who reads events of more
 * than a day ago before the risk that says since when they count does not count them.
 */
function ofOneTopic(state: PresentState): unknown {
  return ofKinds(
    state,
    heldKinds.filter((kind) => kind !== 'observed'),
  )
}

function ofKinds(state: PresentState, kinds: readonly HeldKind[]): unknown {
  return kinds.map((kind) => [kind, [...state[kind]].toSorted(([a], [b]) => (a < b ? -1 : 1))])
}

function foldOf(log: readonly Step[]): PresentState {
  const state = emptyPresent()
  for (const [offset, { topic, message }] of log.entries()) takeIn(state, { topic, offset, message })
  return state
}

/** The rows of a table by asset, in an order of their own. */
function byAsset(state: PresentState, kind: 'open' | 'gap'): unknown {
  const rows = Map.groupBy<string, [string, { asset: string }]>(state[kind], ([, row]) => row.asset)
  return new Map([...rows].map(([name, own]) => [name, new Map(own)]))
}

describe('the present', () => {
  it('is the same wherever it was written down and read again', () => {
    fc.assert(
      fc.property(logs, fc.array(fc.nat(120), { maxLength: 6 }), (log, cuts) => {
        const parts = new Map<string, Buffer>()
        let state = emptyPresent()
        for (const [offset, { topic, message }] of log.entries()) {
          takeIn(state, { topic, offset, message })
          if (!cuts.includes(offset)) continue
          for (const [key, part] of savePresent(state))
            if (part === null) parts.delete(key)
            else parts.set(key, part)
          state = loadPresent(parts)
        }
        expect(held(state)).toEqual(held(foldOf(log)))
        expect(state.byAsset.gap).toEqual(byAsset(state, 'gap'))
      }),
      { ...bounded, numRuns: 300 },
    )
  })

  it('holds what is asked for by asset as its table does', () => {
    const change = fc.record({
      kind: fc.constantFrom('open' as const, 'gap' as const),
      key: fc.constantFrom('a', 'b', 'c'),
      asset: fc.constantFrom('btc', 'eth', null),
    })
    fc.assert(
      fc.property(fc.array(change), (changes) => {
        const state = emptyPresent()
        for (const { kind, key, asset } of changes)
          if (asset === null) drop(state, kind, key)
          else if (kind === 'gap') put(state, kind, key, gapOf({ asset }))
          else put(state, kind, key, { ...noFlow, asset })
        for (const read of [state, loadPresent(whole(state))])
          for (const kind of ['open', 'gap'] as const) expect(read.byAsset[kind]).toEqual(byAsset(read, kind))
      }),
      bounded,
    )
  })

  describe('of very many gaps', () => {
    function take(state: PresentState, message: Message): void {
      takeIn(state, { topic: 'market.trades', offset: 1, message })
    }

    /** How often all gaps are looked through meanwhile. */
    function walks(state: PresentState, doing: () => void): number {
      const walk = vi.spyOn(state.gap, Symbol.iterator)
      doing()
      return walk.mock.calls.length
    }

    it('looks for those that nobody asks for any more once a minute', () => {
      const state = emptyPresent()
      const filled = gapOf({ state: 'filled' })
      take(state, { type: 'gap', value: filled })
      const mark = (time: number): void => take(state, record('mark', { ...emptyFields('mark'), writer: 'a', time }))
      const count = walks(state, () => {
        for (let second = 0; second < 180; second += 1) mark(T0 + second * SECOND)
      })
      expect(count).toBe(3)
      mark(T0 + 8 * DAY)
      expect(state.gap.size).toBe(1)
      mark(T0 + 8 * DAY + 60 * SECOND)
      expect(state.gap.size).toBe(0)
    })

    it('lets those that ended first go, without a look through all for each further one', () => {
      const state = emptyPresent()
      const tell = (gap_id: number): void =>
        take(state, { type: 'gap', value: gapOf({ gap_id, to_time: T0 + gap_id, time: T0 + gap_id }) })
      for (let gap_id = 0; gap_id < 20_000; gap_id += 1) tell(gap_id)
      expect(state.gap.size).toBe(20_000)
      const count = walks(state, () => {
        for (let gap_id = 20_000; gap_id < 20_500; gap_id += 1) tell(gap_id)
      })
      expect(count).toBe(3)
      expect(Math.min(...[...state.gap.values()].map(({ gap_id }) => gap_id))).toBe(20_500 - state.gap.size)
      expect(state.gap.size).toBeGreaterThan(19_700)
    })
  })

  it('does not depend on how its topics are read beside each other', () => {
    fc.assert(
      fc.property(logs, (log) => {
        const apart = log
          .map((step, offset) => ({ ...step, offset }))
          .toSorted((a, b) => presentRow.inputs.indexOf(a.topic) - presentRow.inputs.indexOf(b.topic))
        const state = emptyPresent()
        for (const step of apart) takeIn(state, step)
        expect(ofOneTopic(state)).toEqual(ofOneTopic(foldOf(log)))
      }),
      { ...bounded, numRuns: 300 },
    )
  })

  it('holds of each hour of the last eight days of a past its archive, else its first candle, and nothing else of it', () => {
    fc.assert(
      fc.property(logs, (log) => {
        const own = log.filter(({ topic }) => topic === 'market.history')
        const all = own.flatMap(({ message }) => (message.type === 'venue_candle' ? [message.value] : []))
        const told = all.filter(({ seconds, taker_buy }) => seconds === 3_600 && taker_buy !== null)
        const state = foldOf(log)
        expect(foldOf(own)).toEqual({
          ...emptyPresent(),
          past: state.past,
          changed: expect.anything(),
          versions: expect.anything(),
        })
        for (const [instrument, candles] of Map.groupBy(told, (candle) => candle.instrument)) {
          const newest = Math.max(...candles.map(({ start }) => start))
          const hours = Map.groupBy(candles, ({ start }) => start)
          const wanted = [...hours].filter(([start]) => start >= newest - 8 * DAY).toSorted(([a], [b]) => a - b)
          const chosen = wanted.map(([, rows]) => rows.find(({ source }) => source === 'archive') ?? rows[0])
          const { hours: held = [] } = state.past.get(instrument) ?? {}
          const told = (row: { start: number; source: string } | undefined, buy: unknown): unknown => [
            row?.start,
            row?.source,
            buy,
          ]
          expect(held.map((hour) => told(hour, hour.buy))).toEqual(chosen.map((row) => told(row, row?.taker_buy)))
        }
      }),
      { ...bounded, numRuns: 300 },
    )
  })

  it('holds of a market that perpetuals are held against the ticker at the newest funding, and each after it', () => {
    fc.assert(
      fc.property(logs, (log) => {
        const state = foldOf(log)
        for (const [asset, held] of state.against) {
          const all = log.flatMap(({ message }) => (message.type === 'spot_ticker' ? [message.value] : []))
          const own = all.filter(({ instrument }) => instrument === `binance:spot:${asset}`)
          const inOrder = own.filter(({ received }, at) => own.slice(0, at).every((row) => row.received <= received))
          const told = state.funding.get(asset)?.time ?? 0
          const first = Math.max(
            0,
            inOrder.findLastIndex(({ received }) => received <= told),
          )
          expect(held).toEqual(inOrder.slice(first))
        }
      }),
      { ...bounded, numRuns: 300 },
    )
  })

  it('holds of each market the ticker received last, and every liquidation of a day once', () => {
    fc.assert(
      fc.property(logs, (log) => {
        const state = foldOf(log)
        const tickers = log.flatMap(({ message }) => (message.type === 'spot_ticker' ? [message.value] : []))
        for (const known of state.ticker.values()) {
          const own = tickers.filter(({ instrument }) => instrument === known.instrument)
          expect(known.received).toBe(Math.max(...own.map(({ received }) => received)))
        }
        const now = state.time.get('market.liquidations') ?? 0
        const events = log.flatMap(({ message }) => (message.type === 'liquidation' ? [message.value] : []))
        const nameOf = ({ id, time }: Liquidation): string => `${id} ${Math.floor(time / (300 * SECOND))}`
        const firsts = new Map(events.toReversed().map((row) => [nameOf(row), row])) // an id that comes again says nothing new
        const wanted = [...firsts].filter(([, { time }]) => time >= now - DAY).map(([name]) => name)
        const shown = [...state.liquidations.values()].flat().filter((row) => row.time >= now - DAY)
        expect(shown.map(nameOf).toSorted()).toEqual(wanted.toSorted())
      }),
      { ...bounded, numRuns: 300 },
    )
  })

  it('counts a liquidation that has left the window once, also if a venue tells it again', () => {
    const closed = { ...blank.liquidation, asset: 'btc', id: '1', value: 5, time: T0 + SECOND, received: T0 + SECOND }
    const again = { ...closed, received: T0 + 2 * DAY }
    const log = [
      ['alerts.inputs', { type: 'liquidation_risk', value: { ...blank.liquidation_risk, since: T0 } }],
      ['market.liquidations', { type: 'liquidation', value: closed }],
      ['market.liquidations', { type: 'mark', value: { ...emptyFields('mark'), writer: 'a', time: T0 + 2 * DAY } }],
      ['market.liquidations', { type: 'liquidation', value: again }],
    ] as const
    const state = emptyPresent()
    for (const [offset, [topic, message]] of log.entries())
      takeIn(state, { topic, offset, message: message as Message })
    expect(state.observed.get('btc')).toMatchObject({ longUsd: 5 })
    expect(state.liquidations.size).toBe(0)
    expect(isHeld(state, again as Liquidation, 3)).toBe(false)
  })

  describe('of liquidations beyond what is held', () => {
    const first = T0 / STRETCH
    const event = (at: number, index: number): LoggedLiquidation => {
      const [asset, side] = [index % 3 === 0 ? 'eth' : 'btc', index % 2 === 0 ? ('long' as const) : ('short' as const)]
      const [time, id] = [(first + at) * STRETCH + index, `${at}-${index}`]
      const given = { asset, side, id, value: 0.1 * index, time, received: time, offset: 0 }
      return { ...blank.liquidation, ...given } as LoggedLiquidation // nothing is left out
    }

    /** Fifty stretches that hold all that may be held. */
    function full(): PresentState {
      const state = emptyPresent()
      for (let at = 0; at < 50; at++) {
        const events = Array.from({ length: 1_000 }, (_, index) => event(at, index))
        put(state, 'liquidations', String(first + at), events)
      }
      for (const key of ['', COUNTED]) put(state, 'begun', key, key === '' ? T0 : 0)
      return state
    }

    function take(state: PresentState, value: Liquidation): void {
      takeIn(state, { topic: 'market.liquidations', offset: 1, message: { type: 'liquidation', value } })
    }

    it('keeps the sums for the rest of their day, and does not count one again that a venue tells again', () => {
      let state = full()
      const gone = state.liquidations.get(String(first)) ?? []
      take(state, event(50, 0))
      expect([...state.early]).toEqual([[String(first), sumsOf(gone)]])
      const { longs, shorts } = Object.fromEntries(sumsOf(gone).map((sum) => [sum.asset, sum]))['eth'] ?? {}
      expect([longs, shorts]).toEqual([167, 167])
      expect(state.liquidations.size).toBe(50)
      const again = held(state)
      for (const value of gone.slice(0, 9)) take(state, value)
      expect(held(state)).toEqual(again)
      state = loadPresent(whole(state))
      expect(held(state)).toEqual(again)
      const mark = (time: number): void => {
        const message = record('mark', { ...emptyFields('mark'), writer: 'a', time })
        takeIn(state, { topic: 'market.liquidations', offset: 2, message })
      }
      mark(T0 + DAY + 2 * STRETCH)
      expect(state.early.size).toBe(1)
      mark(T0 + DAY + 2 * STRETCH + 1)
      expect(state.early.size).toBe(0)
    })

    it('takes of a former state, which has no sums, nothing for whole that is before what it holds', () => {
      const parts = whole(full())
      parts.delete(`begun|${COUNTED}`)
      for (const at of [0, 1]) parts.delete(`liquidations|${first + at}`)
      const state = loadPresent(parts)
      expect(state.begun.get(COUNTED)).toBe((first + 2) * STRETCH)
      expect(savePresent(state).has(`begun|${COUNTED}`)).toBe(true)
      expect(loadPresent(whole(full())).begun.get(COUNTED)).toBe(0)
      for (let at = 2; at < 25; at++) parts.delete(`liquidations|${first + at}`)
      expect(loadPresent(parts).begun.get(COUNTED)).toBe(0)
    })
  })

  it('holds a liquidation as the record that told it first', () => {
    const closed = { ...emptyFields('liquidation'), asset: 'btc', id: '1', time: T0, received: T0 } as Liquidation
    const state = emptyPresent()
    const message = { type: 'liquidation', value: closed } as const
    for (const offset of [4, 5]) takeIn(state, { topic: 'market.liquidations', offset, message })
    expect([4, 5].map((offset) => isHeld(state, closed, offset))).toEqual([true, false])
  })

  it(
    'written by the processor is what the fold gives, whatever the batches, crashes, freezes and owners',
    async () => {
      await fc.assert(
        fc.asyncProperty(logs, plans, async (log, { steps: accidents, instances, ...snapshots }) => {
          const driver = new Driver({ row: presentRow, codec, partitions: PARTITIONS, instances, ...snapshots })
          for (const { topic, partition: own, message } of log) driver.feed(topic, own, 'key', message, 1)
          for (const step of accidents) await driver.step(step)
          await driver.drain()
          for (let own = 0; own < PARTITIONS; own++) {
            const task = await driver.task(own)
            await task.snapshot()
            const read = new StateFold(async (value) => codec.decode(value).value as Records['snapshot'])
            await read.add(driver.broker.records(presentRow.state, own))
            const found = read.found(presentRow)
            const state = found.kind === 'state' ? loadPresent(found.parts) : emptyPresent()
            expect(ofOneTopic(state)).toEqual(
              ofOneTopic(inOrderOfTheTask(log.filter(({ partition: at }) => at === own))),
            )
          }
        }),
        { ...bounded, numRuns: 60 },
      )
    },
    LAW_MS,
  )

  it('looks at every record type that it folds of its inputs', () => {
    for (const type of Object.keys(blank)) expect(presentReads).toContain(type)
  })
})

/** All parts of a state, as they are written. */
function whole(state: PresentState): Map<string, Buffer> {
  const all = emptyPresent()
  for (const kind of heldKinds) for (const [key, value] of state[kind]) put(all, kind, key, value)
  return new Map([...savePresent(all)].flatMap(([key, part]) => (part === null ? [] : [[key, part]])))
}

/** A task takes the topics one after the other, each in its own order; offsets count by topic. */
function inOrderOfTheTask(log: readonly Step[]): PresentState {
  const state = emptyPresent()
  for (const topic of presentRow.inputs)
    for (const [offset, { message }] of log.filter((step) => step.topic === topic).entries())
      takeIn(state, { topic, offset, message })
  return state
}

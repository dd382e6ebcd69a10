import fc from 'fast-check'
import type { Message } from '../../../schemas/records.ts'
import { PARTITIONS, type Input } from '../../kernel/testing/fault-plans.ts'
import type { ModelCondition } from './figures-model.ts'
import { cancel, command, createRule, extend, HOUR, latePrice, mark, metric, pause, resume } from './records.ts'
import { newAlert, newLiquidationAlert, price, risk, SECOND, T0 } from './records.ts'

/** Any log of commands, prices, risks and marks, for the laws of this folder: dense around all that is a bound. */

const id = fc.constantFrom('a', 'b', 'c', 'd')
const everywhere = ['e.a0', 'f.a0']
const anyId = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', ...everywhere)
const around = (least: number, most: number): fc.Arbitrary<number> => fc.integer({ min: least, max: most })

const creations = fc
  .record({
    id,
    condition: fc.constantFrom('above', 'below', 'crosses_above', 'crosses_below', 'cascade_risk'),
    target: around(99, 101),
    hours: fc.constantFrom(1, 1, 24),
    idempotency: fc.constantFrom(null, null, 'k', 'l'),
    body: fc.constantFrom('h', 'h', 'i'),
    payment: fc.constantFrom(null, null, 'p', 'q', 'r'),
  })
  .map(({ id, condition, target, hours, idempotency, body, payment }) => {
    const common = { expires_in_hours: hours, idempotency, body_hash: body }
    const isPrice = condition !== 'cascade_risk'
    const alert = isPrice ? newAlert({ ...common, condition, target_price: target }) : newLiquidationAlert(common)
    return command({ alert, alert_id: id, payment })
  })

/** Dense around the figures that `figures` tells. */
const leaf: fc.Arbitrary<ModelCondition> = fc.oneof(
  fc
    .record({
      operator: fc.constantFrom('above', 'below', 'crosses_above', 'crosses_below'),
      value: around(-1, 2),
      exchange: fc.constantFrom(undefined, undefined, 'okx'),
      close: fc.constantFrom(undefined, undefined, undefined, '1m'),
      hysteresis: fc.constantFrom(0, 0, 1),
    })
    .map((one) => ({ metric: 'cvd' as const, ...one })),
  fc
    .record({
      operator: fc.constantFrom('above', 'below'),
      value: around(-1, 2),
      close: fc.constantFrom(undefined, undefined, '1m'),
    })
    .map((one) => ({ metric: 'cvd_change' as const, window: '1m', ...one })),
  fc
    .record({ operator: fc.constantFrom('above', 'below'), value: fc.constantFrom(-40, 0, 60) })
    .map((one) => ({ metric: 'open_interest_change_pct' as const, window: '1m', ...one })),
  fc
    .record({ operator: fc.constantFrom('above', 'crosses_below'), value: around(99, 101) })
    .map((one) => ({ metric: 'price' as const, ...one })),
  fc
    .constantFrom('neutral', 'bullish_pressure')
    .map((value) => ({ metric: 'cvd_signal' as const, window: '1h', operator: 'becomes', value })),
  around(-1, 1).map((low) => ({ metric: 'cvd' as const, operator: 'between', value: [low, low + 1] as const })),
)
const conditions: fc.Arbitrary<ModelCondition> = fc.oneof(
  { weight: 3, arbitrary: leaf },
  { weight: 2, arbitrary: fc.array(leaf, { minLength: 1, maxLength: 3 }).map((all) => ({ all })) },
  { weight: 2, arbitrary: fc.array(leaf, { minLength: 1, maxLength: 3 }).map((any) => ({ any })) },
  { weight: 1, arbitrary: fc.tuple(leaf, leaf, leaf).map(([a, b, c]) => ({ all: [a, { any: [b, c] }] })) },
)

/** Any rule on BTC, or for all symbols. */
const ruleCreations = fc
  .record({
    id: fc.constantFrom('e', 'f', 'g', 'h', ...everywhere),
    when: conditions,
    hours: fc.constantFrom(0, 1, 24),
    repeat: fc.constantFrom(true, true, false),
    held: fc.constantFrom(undefined, undefined, '10s', '30s'),
    resolved: fc.boolean(),
  })
  .map(({ id, when, hours, repeat, held, resolved }) => {
    const { value } = createRule(when, {
      id,
      hours,
      repeat,
      resolved: resolved && repeat,
      ...(held !== undefined && { held_for: held }),
    })
    return { type: 'command' as const, value: { ...value, asset: everywhere.includes(id) ? '*0' : value.asset } }
  })

const edits = fc
  .tuple(fc.constantFrom('e', 'f', 'g', 'h'), ruleCreations)
  .map(([id, { value }]) => command({ action: 'edit', alert_id: id, alert: value.alert }))

const orders = fc.oneof(
  edits,
  fc
    .tuple(fc.constantFrom(1, 24, 168), fc.constantFrom(null, null, 'p', 'q', 'r'), anyId)
    .map(([hours, payment, id]) => extend(hours, payment, id)),
  anyId.map((id) => cancel(id)),
  anyId.map((id) => command({ action: 'test', alert_id: id })),
)

/** A record at a time that is given later. */
type At = (seconds: number) => Message

/** By a caller whose clock is behind, right, or ahead. */
function sent(commands: fc.Arbitrary<Message<'command'>>): fc.Arbitrary<At> {
  return fc.tuple(commands, fc.constantFrom(-1, 0, 0, 2, 3, HOUR)).map(
    ([{ value }, off]): At =>
      (seconds) =>
        command({ ...value, created: T0 + (seconds + off) * SECOND }),
  )
}

const rests: fc.Arbitrary<At> = fc.tuple(anyId, fc.constantFrom(null, undefined, undefined, 0, 5, 30, 61)).map(
  ([id, pauses]): At =>
    (seconds) =>
      pauses === undefined ? resume(id) : pause(pauses === null ? null : Math.floor(seconds) + pauses, id),
)

const prices: fc.Arbitrary<At> = fc
  .record({ usd: around(97, 103), down: around(0, 3), up: around(0, 3), shift: fc.constantFrom(0, 0, 0.4, 0.9, -20) })
  .map(({ usd, down, up, shift }): At => {
    return (seconds) => price(seconds + shift, usd, { low: usd - down, high: usd + up })
  })

const lates: fc.Arbitrary<At> = fc
  .record({
    low: around(97, 100),
    high: around(100, 103),
    ago: fc.constantFrom(0, 5, 60),
    from: fc.constantFrom(-60, -60, -10, -200),
  })
  .map(
    ({ low, high, ago, from }): At =>
      (seconds) =>
        latePrice(seconds - ago, low, high, { bounds_from: T0 + (seconds - ago + from) * SECOND }),
  )

const risks: fc.Arbitrary<At> = fc.record({ pct: around(4, 6), usd: fc.constantFrom(999, 1_000, 2_000) }).map(
  ({ pct, usd }): At =>
    (seconds) =>
      risk(seconds, pct, { at_risk_5_usd: usd }),
)

/** What processors tell of an asset, at whole seconds; of trades some seconds later. */
const figures: fc.Arbitrary<At> = fc.oneof(
  fc
    .record({
      buy: around(0, 2),
      sell: around(0, 2),
      binance: around(-1, 2),
      okx: around(-1, 2),
      place: around(1, 3),
      late: fc.constantFrom(0, 0, 2, 5),
    })
    .map(({ buy, sell, binance, okx, place, late }): At => {
      const told = { 'buy@okx': buy, 'sell@binance': sell, 'cvd@binance': binance, 'cvd@okx': okx, cvd_class_1h: place }
      return (seconds) => metric(Math.floor(seconds) - late, 'cvd', told)
    }),
  fc.record({ binance: around(1, 3), okx: fc.constantFrom(undefined, 1, 2) }).map(({ binance, okx }): At => {
    const told = { 'open_interest@binance': binance, ...(okx !== undefined && { 'open_interest@okx': okx }) }
    return (seconds) => metric(Math.floor(seconds), 'funding', told)
  }),
)

/** Now and then of another symbol. */
const anyFigures: fc.Arbitrary<At> = fc
  .tuple(fc.constantFrom(false, false, true), fc.oneof({ weight: 3, arbitrary: figures }, prices))
  .map(([isOther, make]): At => (seconds) => {
    const { type, value } = make(seconds)
    return { type, value: { ...value, ...(isOther && { asset: 'eth' }) } } as Message
  })

/** Time as prices tell it, and now and then how far the core of trades has come. */
const marks: fc.Arbitrary<At> = fc.constantFrom(undefined, undefined, undefined, 0, 3, 12, 100).map(
  (behind): At =>
    (seconds) =>
      behind === undefined ? mark(seconds) : mark(seconds - behind, 'cvd'),
)

/** Seconds that pass before a record: nothing, moments, the edges of a minute and of a life. */
const waits = fc.oneof(
  { weight: 12, arbitrary: fc.constantFrom(0, 0.3, 1, 4, 11, 12) },
  { weight: 4, arbitrary: fc.constantFrom(30, 59, 60, 61, 90, 400) },
  { weight: 1, arbitrary: fc.constantFrom(3_540, 3_600, 86_400, 7 * 86_400) },
)

/** Rules, then figures, prices and time in short steps, now and then a change: what makes rules ring. */
export const ruleLogs: fc.Arbitrary<Message[]> = fc
  .tuple(
    fc.array(ruleCreations, { minLength: 2, maxLength: 4 }),
    fc.array(
      fc.record({
        wait: fc.constantFrom(1, 1, 1, 4, 4, 10, 10, 30, 30, 61, 950),
        make: fc.oneof(
          { weight: 8, arbitrary: anyFigures },
          { weight: 4, arbitrary: prices },
          { weight: 6, arbitrary: marks },
          { weight: 1, arbitrary: rests },
          {
            weight: 2,
            arbitrary: sent(fc.oneof(ruleCreations, edits, orders)),
          },
        ),
      }),
      { minLength: 40, maxLength: 160, size: 'max' },
    ),
  )
  .map(([rules, steps]) => {
    let now = 0
    return [mark(0), ...rules, ...steps.map(({ wait, make }) => make((now += wait)))]
  })

interface Step {
  readonly partition: number
  readonly wait: number
  /** The `nth` command so far once more; null: what `make` makes. */
  readonly again: number | null
  readonly make: At
}

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.record({
    partition: fc.nat(PARTITIONS - 1),
    wait: waits,
    again: fc.option(fc.nat(30), { freq: 12, nil: null }),
    make: fc.oneof(
      { weight: 8, arbitrary: prices },
      { weight: 1, arbitrary: lates },
      { weight: 2, arbitrary: risks },
      { weight: 8, arbitrary: anyFigures },
      { weight: 4, arbitrary: marks },
      { weight: 2, arbitrary: rests },
      {
        weight: 4,
        arbitrary: sent(fc.oneof(creations, ruleCreations)),
      },
      {
        weight: 2,
        arbitrary: sent(orders),
      },
    ),
  }),
  { maxLength: 120, size: 'max' },
)

/** Each partition has alerts and a time of its own; what differs is put into the ids. */
export const logs: fc.Arbitrary<Input[]> = steps.map((all) => {
  const seconds = Array.from({ length: PARTITIONS }, () => 0)
  const commands: Input[] = []
  return all.map(({ partition, wait, again, make }): Input => {
    const repeated = again === null ? undefined : commands[again % Math.max(1, commands.length)]
    if (repeated !== undefined) return repeated
    const now = (seconds[partition] ?? 0) + wait
    seconds[partition] = now
    const input = { partition, message: within(partition, make(now)) }
    if (input.message.type === 'command') commands.push(input)
    return input
  })
})

function within(partition: number, message: Message): Message {
  if (message.type !== 'command') return message
  return { type: 'command', value: { ...message.value, alert_id: `${message.value.alert_id}${partition}` } }
}

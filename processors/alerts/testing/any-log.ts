import fc from 'fast-check'
import type { Message } from '../../../schemas/records.ts'
import { PARTITIONS, type Input } from '../../kernel/testing/fault-plans.ts'
import { cancel, command, extend, latePrice, mark, newAlert, newLiquidationAlert, price, risk } from './records.ts'

/** Any log of commands, prices, risks and marks, for the laws of this folder: dense around all that is a bound. */

const id = fc.constantFrom('a', 'b', 'c', 'd')
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

const orders = fc.oneof(
  fc
    .tuple(fc.constantFrom(1, 24, 168), fc.constantFrom(null, null, 'p', 'q', 'r'), id)
    .map(([hours, payment, id]) => extend(hours, payment, id)),
  id.map((id) => cancel(id)),
  id.map((id) => command({ action: 'test', alert_id: id })),
)

/** A record at a time that is given later. */
type At = (seconds: number) => Message

const prices: fc.Arbitrary<At> = fc
  .record({ usd: around(97, 103), down: around(0, 3), up: around(0, 3), shift: fc.constantFrom(0, 0, 0.4, 0.9, -20) })
  .map(({ usd, down, up, shift }): At => {
    return (seconds) => price(seconds + shift, usd, { low: usd - down, high: usd + up })
  })

const lates: fc.Arbitrary<At> = fc
  .record({ low: around(97, 100), high: around(100, 103), ago: fc.constantFrom(0, 5, 60) })
  .map(
    ({ low, high, ago }): At =>
      (seconds) =>
        latePrice(seconds - ago, low, high),
  )

const risks: fc.Arbitrary<At> = fc.record({ pct: around(4, 6), usd: fc.constantFrom(999, 1_000, 2_000) }).map(
  ({ pct, usd }): At =>
    (seconds) =>
      risk(seconds, pct, { at_risk_5_usd: usd }),
)

/** Seconds that pass before a record: nothing, moments, the edges of a minute and of a life. */
const waits = fc.oneof(
  { weight: 12, arbitrary: fc.constantFrom(0, 0.3, 1, 4, 11, 12) },
  { weight: 4, arbitrary: fc.constantFrom(30, 59, 60, 61, 90, 400) },
  { weight: 1, arbitrary: fc.constantFrom(3_540, 3_600, 86_400, 7 * 86_400) },
)

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
      { weight: 4, arbitrary: fc.constant<At>((seconds) => mark(seconds)) },
      {
        weight: 4,
        arbitrary: creations.map(
          (made): At =>
            () =>
              made,
        ),
      },
      {
        weight: 2,
        arbitrary: orders.map(
          (made): At =>
            () =>
              made,
        ),
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

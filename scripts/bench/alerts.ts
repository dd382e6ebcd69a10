import { command, mark, newAlert, price, SECOND, T0 } from '../../processors/alerts/testing/records.ts'
import type { StoredAlert } from '../../processors/alerts/kinds/kind.ts'
import type { PriceTerms } from '../../processors/alerts/kinds/price.ts'
import type { AlertsState } from '../../processors/alerts/state.ts'
import type { Message } from '../../schemas/records.ts'
import type { Bench, Figure } from '../figure.ts'
import { apply, bookOf, save, saveWhole, secondsToStart, walk } from './alerts/book.ts'

const MANY = 1_000_000
const FEW = 1_000
/** Alerts that the price comes by on its way: as many of them in a large book as in a small one. */
const NEAR = 800
const START_USD = 60_000
/** Prices of a walk, with a mark after each few; the best of some walks counts: the machine is not ours alone. */
const UPDATES = 50_000
const PRICES_PER_SECOND = 5
const WALKS = 3
const SCANS = 5
/** Alerts that one single price rings. */
const STORM = 100
const CHANGES = 100

/** One asset's prices against a million alerts: as against a thousand, as against a scan of them; what a million cost. */
const bench: Bench = () => {
  const count = MANY - STORM * WALKS // a partition takes a million, those of the storms included
  const { state: many, bytes } = bookOf(count, creation)
  const { state: few } = bookOf(FEW, creation)
  const walks = Array.from({ length: WALKS }, (_, n) => {
    const first = n * (UPDATES + PRICES_PER_SECOND)
    return [walk(many, wayOf(first), UPDATES), walk(few, wayOf(first), UPDATES)] as const
  })
  const manyUs = Math.min(...walks.map(([{ us }]) => us))
  const fewUs = Math.min(...walks.map(([, { us }]) => us))
  const rang = walks.reduce((sum, [{ rang: times }]) => sum + times, 0)
  const same = walks.every(([ofMany, ofFew]) => ofMany.rang === ofFew.rang)
  if (rang === 0 || !same) throw new Error('the walks of many and few did not ring alike')
  const storms = Array.from({ length: WALKS }, (_, n) => [storm(many, n), storm(few, n)] as const)
  const stormUs = (side: 0 | 1): number => Math.min(...storms.map((pair) => pair[side]))
  return Promise.resolve([
    figure('price update, 1,000,000 alerts against 1,000', 'us', manyUs, fewUs, UPDATES * WALKS),
    figure('price updates matched, against a scan of them', '1/s', 1e6 / manyUs, 1e6 / scan(many), UPDATES * WALKS),
    { metric: 'triggers on that way', value: rang, unit: 'triggers', n: UPDATES * WALKS },
    figure(`trigger, ${STORM} by one price, likewise`, 'us', stormUs(0), stormUs(1), STORM * WALKS),
    { metric: 'memory of an active alert', value: bytes, unit: 'bytes', n: count },
    ...snapshots(many, few),
  ])
}

export default bench

function figure(metric: string, unit: string, value: number, baseline: number, n: number): Figure {
  return { metric, value, unit, baseline, n }
}

/** The first of them within 2 % of the price, the others 3 to 50 % away, on both sides. */
function creation(n: number): Message<'command'> {
  const conditions = ['above', 'below', 'crosses_above', 'crosses_below'] as const
  const far = n < NEAR ? 0.0002 * (1 + (n % 100)) : 0.03 + 0.47 * ((n * 0.618_033_988_7) % 1)
  const digits = n.toString(16).padStart(8, '0').repeat(8)
  const alert = newAlert({
    condition: conditions[n % 4] ?? 'above',
    target_price: START_USD * (n % 2 === 0 ? 1 + far : 1 - far),
    expires_in_hours: 168,
    receiver: `hooks-${n % 1_000}.example:443`,
    webhook: Buffer.from(`https://hooks-${n % 1_000}.example/alerts/${digits} and a seal`).toString('base64'),
    body_hash: digits,
    wallets: [`0x${digits.slice(0, 40)}`],
  })
  return command({ request_id: `req_${n}`, alert_id: `alert_btc_1786060800_${100_000 + n}`, alert })
}

/** A way up and down by 2 %, its marks included. */
function* wayOf(first: number): Generator<Message> {
  for (let n = first; n < first + UPDATES; n++) {
    const usd = START_USD * (1 + 0.02 * Math.sin(n / 5_000) + 0.0005 * Math.sin(n / 7))
    yield price(n / PRICES_PER_SECOND, usd, { low: usd * 0.9999, high: usd * 1.0001 })
    if (n % PRICES_PER_SECOND === 0) yield mark(n / PRICES_PER_SECOND)
  }
}

/** Microseconds for each of the alerts that one price rings, which were made for it; they are gone afterwards. */
function storm(state: AlertsState, nth: number): number {
  const seconds = (state.time - T0) / SECOND
  const ids = Array.from({ length: STORM }, (_, n) => `storm_${nth}_${n}`)
  for (const id of ids) {
    const alert = newAlert({ condition: 'crosses_below', target_price: START_USD * 0.975 })
    apply(state, command({ request_id: id, alert_id: id, alert }))
  }
  apply(state, price(seconds, START_USD * 0.978)) // beyond all that are near
  const startedAt = performance.now()
  const rang = apply(state, price(seconds + 1, START_USD * 0.975 - 1))
  const us = ((performance.now() - startedAt) * 1_000) / STORM
  if (rang !== STORM) throw new Error(`${rang} rang in the storm`)
  save(state)
  return us
}

/** Microseconds for a price if each alert that waits were looked at. */
function scan(state: AlertsState): number {
  let beyond = 0
  const startedAt = performance.now()
  for (let n = 0; n < SCANS; n++) {
    const usd = START_USD + n
    for (const { status, terms } of state.alerts.values() as Iterable<StoredAlert<PriceTerms>>) {
      if (status !== 'active') continue
      const { condition, target_price: target } = terms
      const rises = condition === 'above' || condition === 'crosses_above'
      beyond += Number(rises ? usd > target : usd < target)
    }
  }
  if (beyond < 0) throw new Error('counted below nothing')
  return ((performance.now() - startedAt) * 1_000) / SCANS
}

/** What a state costs to keep and to read again. */
function snapshots(many: AlertsState, few: AlertsState): Figure[] {
  const [manyUs, fewUs] = [saveUs(many), saveUs(few)]
  const parts = saveWhole(many)
  const bytes = [...parts].reduce((sum, [key, part]) => sum + key.length + part.length, 0)
  const seconds = secondsToStart(parts, many.alerts.size)
  return [
    figure(`snapshot of ${CHANGES} changes, likewise`, 'us', manyUs, fewUs, CHANGES),
    { metric: 'snapshot of an alert', value: bytes / parts.size, unit: 'bytes', n: parts.size },
    { metric: 'start with 1,000,000 alerts', value: seconds, unit: 's', n: parts.size },
  ]
}

function saveUs(state: AlertsState): number {
  const ids = [...state.alerts.keys()].slice(0, CHANGES)
  const times = Array.from({ length: 20 }, () => {
    for (const id of ids) state.changed.alerts.add(id)
    const startedAt = performance.now()
    save(state)
    return (performance.now() - startedAt) * 1_000
  })
  return Math.min(...times)
}

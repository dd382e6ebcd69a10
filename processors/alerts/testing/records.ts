import { emptyFields } from '../../../schemas/codec.ts'
import type {
  AlertEvent,
  Command,
  CompositePrice,
  DeliveryOrder,
  LiquidationRisk,
  Message,
  Micros,
  NewAlert,
  Trigger,
} from '../../../schemas/records.ts'
import { CoreTestDriver, only } from '../../kernel/testing/core-test-driver.ts'
import { alerts } from '../alerts.ts'
import { nobody } from '../record.ts'
import type { AlertsState } from '../state.ts'

/** What the tests of this folder begin with. Times are seconds after T0. */

export const SECOND: Micros = 1_000_000
export const HOUR = 3_600
export const DAY = 24 * HOUR
export const T0: Micros = 1_786_060_800 * SECOND

/** BTC above 100 USD for a day, but for what is given. */
export function newAlert(fields: Partial<NewAlert> = {}): NewAlert {
  return {
    kind: 'price',
    symbol: 'BTC',
    condition: 'above',
    target_price: 100,
    threshold_pct: null,
    min_value_usd: null,
    expires_in_hours: 24,
    ...nobody,
    receiver: 'hooks.example:443',
    webhook: 'sealed',
    key_version: 1,
    ...fields,
  }
}

/** BTC with over 5 % and at least 1,000 USD at risk. */
export function newLiquidationAlert(fields: Partial<NewAlert> = {}): NewAlert {
  const figures = { target_price: null, threshold_pct: 5, min_value_usd: 1_000 }
  return newAlert({ kind: 'liquidation', condition: 'cascade_risk', ...figures, ...fields })
}

let requests = 0

/** A command about the alert `a`, with a request id of its own. */
export function command(fields: Partial<Command> = {}): Message<'command'> {
  const value: Command = {
    ...emptyFields('command'),
    request_id: `req_${requests++}`,
    action: 'create',
    asset: 'btc',
    alert_id: 'a',
    created: T0,
    ...fields,
  }
  return { type: 'command', value }
}

export function create(fields: Partial<NewAlert> = {}, id = 'a'): Message<'command'> {
  return command({ alert: newAlert(fields), alert_id: id })
}

export function extend(hours: number, payment: string | null = null, id = 'a'): Message<'command'> {
  return command({ action: 'extend', add_hours: hours, payment, alert_id: id })
}

export function cancel(id = 'a'): Message<'command'> {
  return command({ action: 'cancel', alert_id: id })
}

/** Rests until so many seconds after T0; null: until it is resumed. */
export function pause(until: number | null, id = 'a'): Message<'command'> {
  return command({ action: 'pause', until: until === null ? null : T0 + until * SECOND, alert_id: id })
}

export function resume(id = 'a'): Message<'command'> {
  return command({ action: 'resume', alert_id: id })
}

/** The composite price of BTC, from two venues. */
export function price(seconds: number, usd: number, fields: Partial<CompositePrice> = {}): Message<'composite_price'> {
  const time = T0 + seconds * SECOND
  const source = { price: usd, low: usd, high: usd, time: time - 50_000 }
  const value: CompositePrice = {
    asset: 'btc',
    price: usd,
    low: usd,
    high: usd,
    change_24h: null,
    sources: [
      { exchange: 'binance', instrument: 'binance:spot:BTCUSDT', ...source },
      { exchange: 'kraken', instrument: 'kraken:spot:BTC/USD', ...source },
    ],
    quality: 'good',
    late: false,
    bounds_from: 0,
    time,
    v: 0,
    ...fields,
  }
  return { type: 'composite_price', value }
}

/** What candles say of a minute without prices that ends then. */
export function latePrice(
  seconds: number,
  low: number,
  high: number,
  fields: Partial<CompositePrice> = {},
): Message<'composite_price'> {
  const bounds_from = T0 + (seconds - 60) * SECOND
  return price(seconds, low + (high - low) / 2, { low, high, late: true, bounds_from, ...fields })
}

/** BTC with `pct` of 100,000 USD of open interest at risk within 5 %. */
export function risk(seconds: number, pct: number, fields: Partial<LiquidationRisk> = {}): Message<'liquidation_risk'> {
  const time = T0 + seconds * SECOND
  const venue = { open_interest_usd: 50_000, mark: 100, time }
  const value: LiquidationRisk = {
    asset: 'btc',
    price: 100,
    open_interest_usd: 100_000,
    exchanges: [
      { exchange: 'binance', ...venue },
      { exchange: 'okx', ...venue },
    ],
    levels: [],
    clusters: [],
    at_risk_5_usd: pct * 1_000,
    at_risk_5_pct: pct,
    at_risk_10_usd: pct * 1_000,
    at_risk_10_pct: pct,
    cascade_risk: pct > 10 ? 'high' : 'medium',
    swept_long_usd: 0,
    swept_short_usd: 0,
    since: T0,
    time,
    v: 0,
    ...fields,
  }
  return { type: 'liquidation_risk', value }
}

export function mark(seconds: number, writer = 'prices'): Message<'mark'> {
  return {
    type: 'mark',
    value: {
      ...emptyFields('mark'),
      writer,
      run: 0,
      time: T0 + seconds * SECOND,
    },
  }
}

/** The core by itself, and what it has said. */
export class AlertsTestDriver extends CoreTestDriver<AlertsState> {
  constructor() {
    super(alerts, 'alerts.inputs')
  }

  get events(): AlertEvent[] {
    return only(this.emitted, 'alert_event')
  }

  get triggers(): Trigger[] {
    return only(this.emitted, 'trigger')
  }

  get orders(): DeliveryOrder[] {
    return only(this.emitted, 'delivery_order')
  }

  /** The events by name, in order. */
  get told(): string[] {
    return this.events.map(({ event, error }) => (error === null ? event : `${event} ${error}`))
  }

  /** When it rang, seconds after T0. */
  get rang(): number[] {
    return this.triggers.filter(({ test }) => !test).map(({ time }) => (time - T0) / SECOND)
  }
}

/** A log that begins with time. */
export function given(...messages: readonly Message[]): AlertsTestDriver {
  return new AlertsTestDriver().batch(mark(0), ...messages)
}

/** Figures of BTC as a processor tells them: `buy@binance` is that of a venue, `cvd_class_1h` that of the asset. */
export function metric(seconds: number, core: string, figures: Readonly<Record<string, number>>): Message<'metric'> {
  const told = Object.entries(figures).map(([name, value]) => {
    const [figure = '', exchange = null] = name.split('@')
    return { figure, exchange, value }
  })
  return { type: 'metric', value: { asset: 'btc', core, figures: told, time: T0 + seconds * SECOND, v: 0 } }
}

/** A rule on BTC with this condition, named `a`. */
export function createRule(
  when: object,
  {
    id = 'a',
    hours = 24,
    ...terms
  }: { readonly id?: string; readonly hours?: number } & Readonly<Record<string, unknown>> = {},
): Message<'command'> {
  const condition = JSON.stringify({ kind: 'rule', when, ...terms })
  return create({ kind: 'rule', condition, target_price: null, expires_in_hours: hours }, id)
}

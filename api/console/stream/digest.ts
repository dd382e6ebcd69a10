import { symbolOf } from '../../../schemas/catalogue.ts'
import { channelShown } from '../../../processors/webhooks/channels/channels.ts'
import { ownersId } from '../../../processors/alerts/parts.ts'
import { NEVER } from '../../../processors/alerts/state.ts'
import { cascadeReason } from '../../../processors/liquidations/cascade.ts'
import type {
  Alert,
  Attempt,
  CompositePrice,
  Funding,
  Gap,
  Liquidation,
  LiquidationRisk,
  Message,
  Micros,
} from '../../../schemas/records.ts'
import { partsOf } from '../../../schemas/venues.ts'
import { createdOf, kindOf, wholeOf, type CachedAlert } from '../../alerts/alert-store.ts'
import { apiKind, termsShown } from '../../alerts/kinds/kinds.ts'
import type { Update } from '../../stream/board.ts'

/** What an update is about, and most keys that are held of it; pages ask for the kinds that they show. */
export const keysMax = {
  price: 2_000,
  cvd: 1_000,
  funding: 2_000,
  risk: 2_000,
  liquidation: 200,
  alert: 1_000,
  attempt: 600,
  gap: 500,
} as const

/** What records say, as updates of the board; pure but for what it remembers of them. */
export class Digest {
  /** Alerts that are for several symbols, by their id; those longest without a word are forgotten. */
  readonly #wholes = new Map<string, CachedAlert>()

  of(message: Message, topic: string, partition: number): Update[] {
    switch (message.type) {
      case 'mark':
        return topic === 'derived.flow' ? [cvdUpdate(partition)] : []
      case 'alert':
        return [alertUpdate(this.#whole(message.value))]
      default:
        return updateOf(message)
    }
  }

  /** An alert, or a part of one, is told of no longer. */
  gone(id: string): Update {
    const owners = ownersId(id)
    const parts = this.#othersThan(id)
    if (parts.length > 0) return alertUpdate(this.#hold(owners, parts))
    this.#wholes.delete(owners)
    return { kind: 'alert', key: owners, asset: null, value: null }
  }

  /** What there is of alerts is told anew. */
  forgetAlerts(): void {
    this.#wholes.clear()
  }

  /** An alert of several parts is shown as one, as far as its parts have been told of. */
  #whole({ webhook: _sealed, ...alert }: Alert): CachedAlert {
    const { alert_id: id } = alert
    const owners = ownersId(id)
    if (owners === id) return alert
    return this.#hold(owners, [...this.#othersThan(id), alert])
  }

  /** What else there is of the alert, in order: sorting it again costs little. */
  #othersThan(id: string): CachedAlert[] {
    return this.#wholes.get(ownersId(id))?.parts?.filter((part) => part.alert_id !== id) ?? []
  }

  #hold(owners: string, parts: readonly CachedAlert[]): CachedAlert {
    const whole = wholeOf(owners, parts)
    this.#wholes.delete(owners)
    this.#wholes.set(owners, whole)
    const [oldest] = this.#wholes.keys()
    if (this.#wholes.size > keysMax.alert && oldest !== undefined) this.#wholes.delete(oldest)
    return whole
  }
}

/** The volume deltas of a partition's assets are others now, also of those in which nothing traded: they are made when they are told. */
export function cvdUpdate(partition: number): Update {
  return { kind: 'cvd', key: String(partition), asset: null, value: { partition } }
}

/** What a record says by itself. */
export function updateOf(message: Message): Update[] {
  switch (message.type) {
    case 'composite_price':
      // What tells of a time that has passed is not the price of now.
      return message.value.late ? [] : [priceUpdate(message.value)]
    case 'funding':
      return [fundingUpdate(message.value)]
    case 'liquidation_risk':
      return [riskUpdate(message.value)]
    case 'liquidation':
      return [liquidationUpdate(message.value)]
    case 'attempt':
      return [attemptUpdate(message.value)]
    case 'gap':
      return [gapUpdate(message.value)]
    default:
      return []
  }
}

/** Whole milliseconds, cut as the API cuts them. */
function ms(time: Micros): number {
  return Math.floor(time / 1000)
}

function msOrNull(time: Micros | null): number | null {
  return time === null || time === 0 ? null : ms(time)
}

function rowSymbol(asset: string): { symbol: string } {
  return { symbol: symbolOf(asset) }
}

function priceUpdate({ asset, price, change_24h, sources, quality, time }: CompositePrice): Update {
  const value = { ...rowSymbol(asset), price, change_24h, sources: sources.length, quality, time: ms(time) }
  return { kind: 'price', key: asset, asset, value }
}

function fundingUpdate({ asset, exchanges }: Funding): Update {
  const shown = exchanges.map(({ exchange, rate, interval_hours, rate_time }) => ({
    exchange,
    rate,
    interval_hours,
    time: msOrNull(rate_time),
  }))
  return { kind: 'funding', key: asset, asset, value: { exchanges: shown } }
}

function riskUpdate(risk: LiquidationRisk): Update {
  const { asset, open_interest_usd, at_risk_5_pct, at_risk_10_pct, cascade_risk, time } = risk
  const cascade_risk_reason = cascadeReason(at_risk_5_pct, at_risk_10_pct)
  const value = { open_interest_usd, cascade_risk, cascade_risk_reason, time: ms(time) }
  return { kind: 'risk', key: asset, asset, value }
}

function liquidationUpdate({ id, instrument, asset, side, size, price, value, time }: Liquidation): Update {
  const { venue } = partsOf(instrument)
  const shown = { ...rowSymbol(asset), venue, side, size, price, value_usd: value, time: ms(time) }
  return { kind: 'liquidation', key: `${instrument}/${id}`, asset, value: shown }
}

/** As anyone may see an alert: no URL, no wallet, no secret. */
function alertShown(alert: CachedAlert): object {
  const { alert_id, symbol, status, trigger_count } = alert
  const channel = channelShown(alert.receiver)
  const { kind, paths, isEditable = false } = apiKind(kindOf(alert))
  const { fields, words } = termsShown(alert)
  return {
    alert_id,
    kind,
    path: paths.alert,
    editable: isEditable,
    group: 'group' in fields ? fields.group : null,
    tags: 'tags' in fields ? fields.tags : [],
    symbol,
    terms: words,
    channel: channel === undefined ? null : Object.values(channel).join(', '),
    status,
    paused: alert.paused_until > 0,
    paused_until: alert.paused_until === NEVER ? null : msOrNull(alert.paused_until),
    trigger_count,
    created: ms(alert.created_at),
    order: createdOf(alert),
    expires: ms(alert.expires_at),
    ended: msOrNull(alert.ended_at),
    last_triggered: msOrNull(alert.last_triggered),
  }
}

function alertUpdate(alert: CachedAlert): Update {
  return { kind: 'alert', key: alert.alert_id, asset: alert.asset, value: alertShown(alert) }
}

function attemptUpdate(attempt: Attempt): Update {
  const { trigger_id, number, outcome, status, error, test, started, finished, due, triggered } = attempt
  const alert_id = ownersId(attempt.alert_id)
  const times = { started: ms(started), finished: ms(finished), due: msOrNull(due), triggered: ms(triggered) }
  const value = { trigger_id, alert_id, number, outcome, status, error, test, ...times }
  return { kind: 'attempt', key: `${trigger_id}/${number}/${started}`, asset: null, value }
}

function gapUpdate({ instrument, asset, gap_id, state, reason, from_time, to_time, missing, time }: Gap): Update {
  const { venue } = partsOf(instrument)
  const times = { from: ms(from_time), to: ms(to_time), time: ms(time) }
  const value = { ...rowSymbol(asset), venue, instrument, state, reason, missing, ...times }
  return { kind: 'gap', key: `${instrument}/${gap_id}`, asset, value }
}

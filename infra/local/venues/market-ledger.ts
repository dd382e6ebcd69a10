import { perpVenueNames, spotVenueNames, type Economy, type PerpMarket, type SpotMarket } from './economy.ts'
import { ok } from './query.ts'
import type { Micros } from './trade.ts'
import type { RestReply } from './venue-server.ts'

const DAY: Micros = 86_400_000_000
const FIVE_MINUTES: Micros = 300_000_000
/** Settlements, liquidations and the like that one answer may hold for each market. */
const ROWS_MAX = 5_000

export const ledgerKinds = [
  'spot',
  'perp',
  'premiums',
  'settlements',
  'open-interest',
  'ratios',
  'liquidations',
  'tokens',
] as const

interface Wanted {
  readonly venue: string | null
  /** A venue's symbol or the asset. */
  readonly symbol: string | null
  readonly from: Micros
  readonly to: Micros
}

/** `GET /ledger/market`: the economy's own numbers, in dollars and base units, times in microseconds. */
export function marketLedger(economy: Economy, query: URLSearchParams, now: Micros): RestReply {
  const kind = ledgerKinds.find((name) => name === query.get('kind'))
  if (kind === undefined) return { status: 400, body: { error: `kind is one of ${ledgerKinds.join(', ')}` } }
  const [from = '', to = ''] = ['from', 'to'].map((name) => query.get(name) ?? '')
  if (![from, to].every((text) => /^\d*$/.test(text))) {
    return { status: 400, body: { error: 'from and to are microseconds since 1970' } }
  }
  const span = { from: from === '' ? now - DAY : Number(from), to: to === '' ? now + 1 : Number(to) }
  const wanted = { venue: query.get('venue'), symbol: query.get('symbol'), ...span }
  if (kind === 'tokens') return ok(economy.tokens())
  if (kind === 'spot') return ok(spots(economy, wanted))
  return ok(perps(economy, wanted).flatMap((market) => rowsOf(economy, market, kind, wanted)))
}

function spots(economy: Economy, wanted: Wanted): object[] {
  return spotVenueNames
    .flatMap((venue) => economy.spots(venue))
    .filter((market) => concerns(wanted, market))
    .map((market) => ({ ...named(market), quote: market.quote, ...economy.spot(market) }))
}

function perps(economy: Economy, wanted: Wanted): PerpMarket[] {
  return perpVenueNames.flatMap((venue) => economy.perps(venue)).filter((market) => concerns(wanted, market))
}

function rowsOf(
  economy: Economy,
  market: PerpMarket,
  kind: 'perp' | 'premiums' | 'settlements' | 'open-interest' | 'ratios' | 'liquidations',
  { from, to }: Wanted,
): object[] {
  const rows = (found: readonly object[]): object[] =>
    found.slice(0, ROWS_MAX).map((row) => ({ ...named(market), ...row }))
  switch (kind) {
    case 'perp': {
      const { factor, intervalHours, cap, floor, maxLeverage } = market
      return rows([{ factor, intervalHours, cap, floor, maxLeverage, ...economy.perp(market) }])
    }
    case 'premiums':
      return rows(
        economy.minutes(market, from, to).map(({ start, premium }) => ({ time: start, close: premium.close })),
      )
    case 'settlements': {
      const hours = Math.ceil((to - from) / 3_600_000_000 / market.intervalHours) + 1
      const settled = economy.settlements(market, Math.min(ROWS_MAX, hours), to)
      return rows(settled.filter(({ time }) => time >= from))
    }
    case 'open-interest':
      return rows(economy.openInterests(market, from, to))
    case 'ratios':
      return rows(ratios(economy, market, from, to))
    case 'liquidations':
      return rows(economy.liquidations(market, from, to))
  }
}

function ratios(economy: Economy, market: PerpMarket, from: Micros, to: Micros): object[] {
  const found: object[] = []
  for (let time = Math.ceil(from / FIVE_MINUTES) * FIVE_MINUTES; time < to; time += FIVE_MINUTES) {
    const ratio = economy.topTraders(market, time)
    if (ratio !== undefined) found.push({ time, ...ratio })
  }
  return found
}

function concerns({ venue, symbol }: Wanted, market: SpotMarket | PerpMarket): boolean {
  if (venue !== null && venue !== market.venue) return false
  return symbol === null || symbol === market.symbol || symbol === market.asset
}

function named({ venue, symbol, asset }: SpotMarket | PerpMarket): object {
  return { venue, symbol, asset }
}

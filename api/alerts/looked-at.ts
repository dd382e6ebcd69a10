import type { AlertTerms } from '../../processors/alerts/kinds/kinds.ts'
import { metricOf } from '../../processors/alerts/metrics.ts'
import type { SeriesSpec } from '../../processors/alerts/series.ts'
import { fundingVenues, type Market, type TradeVenueRow } from '../../schemas/venues.ts'
import { findAsset } from '../present/catalogue.ts'
import { notListed } from '../routes/answers.ts'
import type { Services } from '../services.ts'
import { apiKind } from './kinds/kinds.ts'

/**
 * The asset of an alert's symbol. Throws `symbol_not_found` where no venue lists it on a market that the alert looks at: it
 * could never ring. Before any venue's list is in the log nothing is known of that.
 */
export function assetLookedAt(services: Services, { symbol, terms }: { symbol: string; terms: AlertTerms }): string {
  const { counted } = services
  const catalogue = services.present().catalogue(counted)
  const { asset } = findAsset(symbol, catalogue)
  const isTold = (spec: SeriesSpec): boolean =>
    tellersOf(spec, counted).some(({ venue, market }) => catalogue.venuesOf(asset, market).has(venue))
  const kind = apiKind(terms.kind)
  if (catalogue.isEmpty || (kind.canRing?.(terms, isTold) ?? kind.figures(terms).every(isTold))) return asset
  throw notListed(`No venue lists ${symbol} on a market that ${kind.named} looks at`)
}

/** Who could tell a figure, and of which market. */
function tellersOf(
  { metric, exchange }: SeriesSpec,
  counted: readonly TradeVenueRow[],
): readonly { readonly venue: string; readonly market: Market }[] {
  const { input, exchanges } = metricOf(metric)
  const market = input === 'composite_price' ? 'spot' : 'perp'
  const venues = exchanges.length > 0 ? exchanges : fundingVenues
  const all = input === 'cvd' ? counted : venues.map((venue) => ({ venue, market }) as const)
  return exchange === null ? all : all.filter(({ venue }) => venue === exchange)
}

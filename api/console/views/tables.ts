import { symbolOf } from '../../../schemas/catalogue.ts'
import { operatorsOf, windowsOf } from '../../../processors/alerts/kinds/rule-terms.ts'
import { candles, metricNames, metricOf } from '../../../processors/alerts/metrics.ts'
import { ApiError } from '../../request/errors.ts'
import { assetContext, viewContext } from '../../routes/answers.ts'
import { periodTrades, venuesOf } from '../../routes/cvd.ts'
import { readinessOf } from '../../routes/data.ts'
import type { Services } from '../../services.ts'
import { deliverySchemas } from '../../alerts/destination.ts'
import { apiKinds } from '../../alerts/kinds/kinds.ts'
import { routes } from '../../routes.ts'
import type { VenueStatus } from '../../views/venues.ts'
import { acknowledgedOf } from '../../views/world.ts'

/** The symbols that are streamed. */
export async function symbolsView(services: Services): Promise<object> {
  const { mode, version } = services
  const symbols = streamedAssets(services).map((asset) => ({ asset, symbol: symbolOf(asset) }))
  return { mode, version, now: services.now(), symbols }
}

/** Those from the start first, then those that somebody asked for. */
export function streamedAssets(services: Services): string[] {
  const world = services.present().world()
  const others = [...world.subscriptions.keys()].filter((asset) => acknowledgedOf(world, asset).length > 0)
  return [...new Set([...services.preSubscribed, ...others])]
}

/** What is known of each venue's trades of the last hour, by symbol, in the order of `symbolsView`. */
export async function streamsView(services: Services): Promise<object> {
  const venues = services.counted.map(({ venue }) => venue)
  const symbols = streamedAssets(services).map(symbolOf)
  const streams = symbols.map((symbol) => ({ symbol, status: statusOf(services, symbol) }))
  return { now: services.now(), venues, streams }
}

/** By venue, as `/cvd` says it; null: nothing can be said. */
function statusOf(services: Services, symbol: string): Readonly<Record<string, VenueStatus>> | 'warming_up' | null {
  try {
    const context = assetContext(services, symbol)
    // It is streamed, whether or not a feed can be heard just now.
    if (readinessOf(services, context, true) === 'warming') return 'warming_up'
    const venues = venuesOf(context, periodTrades(context, '1h'))
    return Object.fromEntries(venues.map(({ venue, status }) => [venue, status]))
  } catch (error) {
    if (error instanceof ApiError) return null
    throw error
  }
}

/** Every symbol that a venue lists, in order: what a reader may look for. */
export async function catalogueView(services: Services): Promise<object> {
  const { named } = viewContext(services).catalogue
  return { symbols: [...new Set([...named, ...services.preSubscribed])].map(symbolOf).toSorted() }
}

/** What a form of alerts is made of: the kinds with the schema of their creation, and what can be asked of each metric. */
export function rulesView(): object {
  const creations = new Map(routes.filter(({ method }) => method === 'POST').map(({ path, body }) => [path, body]))
  return {
    kinds: apiKinds.map(({ kind, named, paths, body, isEditable = false }) => ({
      kind,
      named,
      path: paths.alert,
      isEditable,
      terms: Object.keys(body),
      delivery: Object.keys(deliverySchemas),
      schema: creations.get(paths.alert)?.schema,
    })),
    metrics: metricNames.map((name) => {
      const metric = metricOf(name)
      const { says, unit, exchanges, classes = [] } = metric
      const operators = operatorsOf(metric).map((operator) => ({ operator, windows: windowsOf(metric, operator) }))
      return { name, says, unit, exchanges, classes, operators }
    }),
    closes: candles,
  }
}

import { symbolOf } from '../../../schemas/catalogue.ts'
import { operatorsOf, windowsOf } from '../../../processors/alerts/kinds/rule-terms.ts'
import { candles, metricNames, metricOf } from '../../../processors/alerts/metrics.ts'
import { viewContext } from '../../routes/answers.ts'
import type { Services } from '../../services.ts'
import { deliverySchemas } from '../../alerts/destination.ts'
import { apiKinds } from '../../alerts/kinds/kinds.ts'
import { routes } from '../../routes.ts'

/** The assets that are streamed: those from the start first, then those that somebody asked for. */
export async function symbolsView(services: Services): Promise<object> {
  const { preSubscribed, mode, version } = services
  const { subscriptions } = services.present().world()
  const others = subscriptions.flatMap(({ state, asset }) => (state === 'acknowledged' ? [asset] : []))
  return {
    mode,
    version,
    now: services.now(),
    symbols: [...new Set([...preSubscribed, ...others])].map((asset) => ({ asset, symbol: symbolOf(asset) })),
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

import { operatorsOf, windowsOf } from '../../../processors/alerts/kinds/rule-terms.ts'
import { candles, metricNames, metricOf } from '../../../processors/alerts/metrics.ts'
import { deliverySchemas } from '../../alerts/delivery.ts'
import { apiKinds } from '../../alerts/kinds/kinds.ts'
import { routes } from '../../routes.ts'

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

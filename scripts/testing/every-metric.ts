import { windowsOf } from '../../processors/alerts/kinds/rule-terms.ts'
import { metricNames, metricOf, type MetricName } from '../../processors/alerts/metrics.ts'

/** How far from where it is, as shares, levels lie of which the price soon crosses one. */
const NEAR = [0.0001, 0.001]
/** What a figure lies between, whatever it is. */
const ANY = [-1e15, 1e15] as const
const ANSWER_MS = 20_000

/** A rule that was made of a metric. */
export interface MadeRule {
  readonly metric: MetricName
  readonly id: string
  /** Host's milliseconds. */
  readonly created: number
}

/**
 * Conditions on a metric, over its shortest window, of which one is met as soon as the figure is known. A class has to be
 * seen otherwise first: it is joined with the price, which comes to be beyond a level above it or below.
 */
function conditionsOn(name: MetricName, price: number): object[] {
  const metric = metricOf(name)
  const { classes } = metric
  const [window = null] = windowsOf(metric, classes === undefined ? 'between' : 'becomes')
  if (classes === undefined) return [{ metric: name, operator: 'between', value: ANY, window }]
  const any = classes.map((value) => ({ metric: name, operator: 'becomes', value, window }))
  return [1, -1].map((side) => {
    const operator = side > 0 ? 'crosses_above' : 'crosses_below'
    const moves = NEAR.map((share) => ({ metric: 'price', operator, value: price * (1 + side * share) }))
    return { all: [{ any }, { any: moves }] }
  })
}

/** Makes rules on every metric of BTC at the API of a running system; of a class two, either of which may ring. */
export async function ruleEveryMetric(api: string, webhook_url: string): Promise<MadeRule[]> {
  const { price } = await asked<{ price: number }>(`${api}/price/BTC`)
  const made = metricNames.flatMap((metric) =>
    conditionsOn(metric, price).map(async (when): Promise<MadeRule> => {
      const body = JSON.stringify({ symbol: 'BTC', when, note: metric, webhook_url })
      const headers = { 'content-type': 'application/json' }
      const answer = await asked<Created>(`${api}/alerts`, { method: 'POST', headers, body })
      return { metric, id: answer.alert_id, created: Date.parse(answer.created_at) }
    }),
  )
  return Promise.all(made)
}

interface Created {
  readonly alert_id: string
  readonly created_at: string
}

/** Metrics of these rules of which none has rung yet: the API lists what waits, and not what rang and is not over. */
export async function silentMetrics(api: string, rules: readonly MadeRule[]): Promise<MetricName[]> {
  const { alerts } = await asked<{ alerts: readonly Counted[] }>(`${api}/alerts?symbol=BTC&limit=1000`)
  const waiting = new Set(alerts.flatMap(({ alert_id: id, trigger_count: count }) => (count === 0 ? [id] : [])))
  const rang = new Set(rules.filter(({ id }) => !waiting.has(id)).map(({ metric }) => metric))
  return [...new Set(rules.map(({ metric }) => metric))].filter((name) => !rang.has(name))
}

interface Counted {
  readonly alert_id: string
  readonly trigger_count: number
}

async function asked<Body>(url: string, init: RequestInit = {}): Promise<Body> {
  const answer = await fetch(url, { ...init, signal: AbortSignal.timeout(ANSWER_MS) })
  if (!answer.ok) throw new Error(`${url} answers ${answer.status}: ${await answer.text()}`)
  return (await answer.json()) as Body
}

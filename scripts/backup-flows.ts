import { creditRow } from '../processors/credit/credit.ts'
import { topology } from '../processors/topology.ts'
import { topics, type TopicName } from '../schemas/topics.ts'

/**
 * What services write from what, beside the processors: a position or a state is written from what it is a state of, an
 * output from its input. Money comes last: what was bought may be missing, for its payment brings it, but never a payment.
 */
const services: readonly Flow[] = [
  { from: 'alerts.triggers', to: 'webhooks.attempts' },
  { from: 'webhooks.attempts', to: 'webhooks.pending' },
  { from: 'payments.intents', to: 'payments.events' },
  { from: 'payments.events', to: 'payments.answers' },
  { from: 'payments.events', to: 'alerts.inputs' },
  { from: 'payments.events', to: 'control.backfill' },
  { from: 'payments.events', to: 'payments.credit' },
  { from: 'payments.credit', to: 'alerts.inputs' },
  { from: 'payments.credit', to: 'control.backfill' },
  { from: 'market.history', to: 'control.backfill' },
  { from: 'market.instruments', to: 'market.trades' },
  { from: 'market.tokens', to: 'market.tickers' },
]

const processors: readonly Flow[] = [...topology, creditRow].flatMap(({ inputs, outputs, state }) => {
  const written = outputs.length > 0 ? outputs : [state]
  const outs = inputs.flatMap((from) => written.map((to) => ({ from, to })))
  const states = outputs.map((from) => ({ from, to: state }))
  // a gap, or a record that is set aside, is told before the state that has passed it
  const told = [
    { from: 'control.gaps', to: state },
    { from: 'control.dead_letters', to: state },
  ] as const
  return [...outs, ...states, ...told]
})

/** Every topic, in the order in which a backup takes its end. */
export function backupOrder(): TopicName[] {
  const flows = [...services, ...processors].filter(({ from, to }) => from !== to)
  return cutOrder(
    topics.map(({ name }) => name),
    flows,
  )
}

/** What is written from what: `from` is read, then `to` is written; what names its own position comes before its outputs. */
interface Flow {
  readonly from: TopicName
  readonly to: TopicName
}

/**
 * Topics in the order in which their ends are taken: whatever follows from a record before that record's topic. So no
 * topic of a backup is ahead of what it was made from: what is missing is made again, as after a crash. Throws where
 * topics follow from each other.
 */
function cutOrder(topics: readonly TopicName[], flows: readonly Flow[]): TopicName[] {
  const after = Map.groupBy(flows, ({ from }) => from)
  const order: TopicName[] = []
  const underWay = new Set<TopicName>()
  const visit = (topic: TopicName): void => {
    if (order.includes(topic)) return
    if (underWay.has(topic)) throw new Error(`topics follow from each other: ${[...underWay].join(', ')}`)
    underWay.add(topic)
    for (const { to } of after.get(topic) ?? []) visit(to)
    underWay.delete(topic)
    order.push(topic)
  }
  for (const topic of topics) visit(topic)
  return order
}

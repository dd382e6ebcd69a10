import type { TopicName } from '../../schemas/topics.ts'

/** What is written from what: `from` is read, then `to` is written; what names its own position comes before its outputs. */
export interface Flow {
  readonly from: TopicName
  readonly to: TopicName
}

/**
 * Topics in the order in which their ends are taken: whatever follows from a record before that record's topic. So no
 * topic of a backup is ahead of what it was made from: what is missing is made again, as after a crash. Throws where
 * topics follow from each other.
 */
export function cutOrder(topics: readonly TopicName[], flows: readonly Flow[]): TopicName[] {
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

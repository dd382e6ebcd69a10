import type { TopicName } from '../../../../schemas/topics.ts'
import type { World } from '../world.ts'
import { businessFacts } from './business.ts'
import { derivedFacts } from './derived.ts'
import { marketFacts } from './market.ts'
import type { Fact } from './time.ts'
import { tradeFacts } from './trades.ts'

/** A market small enough that each answer about it can be worked out by hand. */
const smallWorld: readonly Fact[] = [...tradeFacts(), ...marketFacts(), ...derivedFacts(), ...businessFacts()]

/** Topics with one partition. */
const narrow: ReadonlySet<TopicName> = new Set(['payments.events'])

/** Views by which one sees that everything of a topic has come, and how many rows of each there then are. */
const counts = {
  flow_10s: 7,
  trades: 14,
  gaps: 3,
  subscription_changes: 1,
  tickers: 3,
  mark_prices: 3,
  open_interest: 3,
  funding_rates: 3,
  contract_terms: 3,
  funding_settlements: 2,
  long_short_ratios: 3,
  liquidations: 3,
  candles: 1,
  prices: 7,
  liquidation_risk: 2,
  latest_funding: 1,
  signals: 7,
  audits: 3,
  triggers: 5,
  webhook_attempts: 4,
  payments: 4,
} as const

/** Writes the small world into the log and waits until the views have all of it. */
export async function fillSmallWorld(world: World): Promise<void> {
  for (const [topic, facts] of Map.groupBy(smallWorld, ([name]) => name)) {
    const values = facts.map(([, { type, value }]) => world.codec.encode(topic, type, value))
    await world.append(topic, values, narrow.has(topic) ? 0 : undefined)
  }
  const selects = Object.entries(counts).map(([view]) => `SELECT '${view}' AS view, count() AS n FROM ${view}`)
  const expected = Object.entries(counts)
    .map(([view, n]) => ({ view, n }))
    .toSorted((a, b) => (a.view < b.view ? -1 : 1))
  await world.soon(`SELECT * FROM (${selects.join(' UNION ALL ')}) ORDER BY view`, expected)
}

import { createRule, mark, metric, price } from '../../processors/alerts/testing/records.ts'
import type { Message } from '../../schemas/records.ts'
import type { Bench, Figure } from '../figure.ts'
import { bookOf, saveWhole, secondsToStart, walk } from './alerts/book.ts'

const COUNTS = [1_000, 100_000, 1_000_000] as const
/** Rules that the figures come by on their way: as many in a large book as in a small one. */
const NEAR = 800
/** Rounds of a price, figures of trades and of perpetuals, and a mark, a second apart; the best of some walks counts. */
const ROUNDS = 4_000
const WALKS = 3
const UPDATES = ROUNDS * 3

/** An asset's figures against a million mixed rules, a tenth of them for all symbols: as against a thousand; what a rule takes, and a start with all of them. */
const bench: Bench = () => {
  const books = COUNTS.map((count) => bookOf(count, ruleOf))
  const most = COUNTS.at(-1) ?? 0
  const { bytes = NaN, state: whole } = books.at(-1) ?? {}
  const seconds = whole === undefined ? NaN : secondsToStart(saveWhole(whole), most)
  const walks = books.map(({ state }) =>
    Array.from({ length: WALKS }, (_, nth) => walk(state, wayOf(nth * ROUNDS + 1), UPDATES)),
  )
  const best = walks.map((all) => Math.min(...all.map(({ us }) => us)))
  const [rang = 0, ...others] = walks.map((all) => all.reduce((sum, one) => sum + one.rang, 0))
  if (rang === 0 || others.some((more) => more !== rang)) throw new Error('the walks did not ring alike')
  const figures = COUNTS.map((count, at): Figure => {
    const value = best[at] ?? NaN
    const baseline = best[0] ?? NaN
    const metric = `update, ${count.toLocaleString('en-US')} rules against 1,000`
    return { metric, value, unit: 'us', baseline, n: UPDATES * WALKS }
  })
  return Promise.resolve([
    ...figures,
    { metric: 'triggers on that way', value: rang, unit: 'triggers', n: UPDATES * WALKS },
    { metric: 'memory of a rule', value: bytes, unit: 'bytes', n: most },
    { metric: 'start with their saved state', value: seconds, unit: 's', n: most },
  ])
}

export default bench

/** The first near the way of the figures, the others beyond it; of one condition, or two that are joined. */
function ruleOf(n: number): Message<'command'> {
  const far = n < NEAR ? (n % 100) / 100 : 2 + 50 * ((n * 0.618_033_988_7) % 1)
  const side = n % 2 === 0 ? { operator: 'above', value: far } : { operator: 'below', value: -far }
  const leaves = [
    { metric: 'cvd', ...side },
    { metric: 'cvd_change', window: '5m', ...side, value: side.value * 500 },
    { metric: 'funding_rate_pct', exchange: 'okx', ...side },
    { metric: 'open_interest_change_pct', window: '1m', ...side, value: side.value * 100 },
    { metric: 'price', operator: side.operator, value: 60_000 * (1 + side.value / 10) },
  ]
  const leaf = leaves[n % leaves.length] ?? {}
  const when =
    n % 7 === 0 ? { all: [leaf, leaves[(n + 1) % leaves.length]] } : n % 11 === 0 ? { any: [leaf, leaves[0]] } : leaf
  const isForAll = n % 10 === 9
  const { value } = createRule(when, {
    id: `alert_rule_btc_1786060800_${100_000 + n}${isForAll ? '.a0' : ''}`,
    hours: 720,
  })
  return { type: 'command', value: { ...value, asset: isForAll ? '*0' : value.asset } }
}

function* wayOf(first: number): Generator<Message> {
  for (let n = first; n < first + ROUNDS; n++) {
    const swing = Math.sin(n / 300)
    yield price(n, 60_000 * (1 + swing / 10))
    yield metric(n, 'cvd', { 'cvd@binance': swing, 'buy@binance': 1 + swing, 'sell@binance': 1 - swing / 2 })
    yield metric(n, 'funding', { 'funding_rate@okx': swing, 'open_interest@okx': 1_000 * (2 + swing) })
    yield mark(n)
  }
}

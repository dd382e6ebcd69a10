import fc from 'fast-check'
import { decimal, followsTheLaws, id, ms } from '../testing/parse-laws.ts'
import { binance } from './venue.ts'

/** Binance's, and whether with the fields that came later. */
const channel = { e: fc.constantFrom('aggTrade', 'trade'), isNew: fc.boolean() }
const frame = fc
  .record({
    id,
    ms,
    p: decimal,
    q: decimal,
    m: fc.boolean(),
    f: id,
    fills: fc.nat(99),
    wrapped: fc.boolean(),
    ...channel,
  })
  .map(({ id, ms, p, q, m, f, fills, wrapped, e, isNew }) => {
    const nq = isNew ? { nq: q } : {}
    const st = isNew ? { st: 1 } : {}
    const agg = { e, E: ms, a: id, s: 'BTCUSDT', p, q, ...nq, f, l: f + fills, T: ms, m, ...st }
    const raw = { e, E: ms, T: ms, s: 'BTCUSDT', t: id, p, q, X: 'MARKET', m }
    const data = e === 'trade' ? raw : agg
    return JSON.stringify(wrapped ? { stream: `btcusdt@${e}`, data } : data)
  })

followsTheLaws(binance.trades, frame)

import fc from 'fast-check'
import { decimal, followsTheLaws, id, ms } from '../testing/parse-laws.ts'
import { binanceSpot } from './venue.ts'

/** Spot writes the symbol before the id. */
const frame = fc
  .record({ id, ms, p: decimal, q: decimal, m: fc.boolean(), f: id, fills: fc.nat(99) })
  .map(({ id, ms, p, q, m, f, fills }) => {
    const data = { e: 'aggTrade', E: ms, s: 'BTCUSDT', a: id, p, q, f, l: f + fills, T: ms, m, M: true }
    return JSON.stringify({ stream: 'btcusdt@aggTrade', data })
  })

followsTheLaws(binanceSpot.trades, frame)

import { asDecimal } from '../../processors/prices/decimal.ts'
import { symbolOf } from '../../schemas/catalogue.ts'
import type { Micros } from '../../schemas/records.ts'
import { liquidationVenues } from '../../schemas/venues.ts'
import { findAsset } from '../catalogue.ts'
import type { Draft } from '../route.ts'
import { keptOf, type Kept } from '../kept.ts'
import type { Services } from '../services.ts'
import {
  readLiquidations,
  readLiquidationStats,
  type LiquidationRow,
  type LiquidationStats,
} from '../views/liquidations.ts'
import { iso, isoOrNull } from '../views/time.ts'
import { heardOn, settledTime } from '../views/world.ts'
import { answerCut, draft, noData, sceneOf, type Row, type Scene } from './answers.ts'

const HOUR: Micros = 3_600_000_000
/** How far the window of events reaches back. */
const WINDOW: Micros = 24 * HOUR
/** Most events that are held; the window has the newest. */
export const EVENTS_MAX = 1_000
/** Silence of all channels for longer makes the answer stale. */
const LIQUIDATIONS_STALE: Micros = 30_000_000

/** The newest events and the statistics of one filter: from these every `limit` is answered. */
export interface LiquidationBoard {
  readonly asOf: Micros
  /** Each event as JSON text, newest first. */
  readonly events: readonly string[]
  readonly stats: string
}

/** `/liquidation/recent` */
export async function liquidationsAnswer(
  services: Services,
  row: Row,
  { symbol, limit }: { symbol: string | undefined; limit: number },
): Promise<Draft> {
  const scene = await sceneOf(services)
  const listed = symbol === undefined ? null : findAsset(symbol, scene.catalogue)
  const load = (): Promise<LiquidationBoard> => readBoard(services, scene, listed?.asset ?? null)
  const filter = listed === null ? 'null' : `"${listed.symbol}USDT"`
  return draft(async () => {
    const board = await services.boards.liquidations.get(listed?.asset ?? '', row.ttlMs, load)
    const key = [filter, limit]
    return answerCut(services, row, { key, clock: scene.clock, board }, () => cut(board.value, filter, limit))
  })
}

function cut({ asOf, events, stats }: LiquidationBoard, filter: string, limit: number): Kept {
  const shown = events.slice(0, limit)
  const open = `{"count":${shown.length},"symbol_filter":${filter},"events":[${shown.join(',')}],"stats":${stats}`
  return keptOf(open, '}', { asOf, freshUntil: asOf + LIQUIDATIONS_STALE })
}

async function readBoard(services: Services, { world }: Scene, asset: string | null): Promise<LiquidationBoard> {
  const now = settledTime(world, 'market.liquidations')
  if (now === undefined) throw noData('word from any venue’s liquidation stream')
  const [rows, stats] = await Promise.all([
    readLiquidations(services.database, asset, { from: now - WINDOW, now, limit: EVENTS_MAX }),
    readLiquidationStats(services.database, asset, { hour: now - HOUR, day: now - WINDOW, now }),
  ])
  const heard = liquidationVenues.map((venue) => heardOn(world, 'market.liquidations', venue))
  return {
    asOf: Math.max(0, ...heard, ...rows.map(({ time }) => time)),
    events: rows.map((row) => JSON.stringify(eventOf(row, services.partitions))),
    stats: JSON.stringify(statsOf(stats, now)),
  }
}

function eventOf(row: LiquidationRow, partitions: number): object {
  const place = row.offset * partitions + row.partition
  return {
    id: `liq_${Math.floor(row.time / 1_000_000)}_${place}`,
    symbol: `${symbolOf(row.asset)}USDT`,
    side: row.side,
    size: row.size,
    price: row.price,
    value_usd: asDecimal(row.value),
    timestamp: iso(row.time),
    exchange: row.venue.toUpperCase(),
    price_kind: row.priceKind,
    completeness: row.completeness,
  }
}

/** Statistics count the log: `since` is where it begins, if that is within the window. */
function statsOf({ hour, day, firstReceived }: LiquidationStats, now: Micros): object {
  const since = (window: Micros): Micros | null =>
    firstReceived === null ? null : Math.max(now - window, firstReceived)
  return {
    last_1h: {
      total_events: hour.events,
      long_liquidations: hour.longs,
      short_liquidations: hour.shorts,
      total_value_usd: asDecimal(hour.usd),
      since: isoOrNull(since(HOUR)),
    },
    last_24h: { total_events: day.events, total_value_usd: asDecimal(day.usd), since: isoOrNull(since(WINDOW)) },
  }
}

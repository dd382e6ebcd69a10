import { TtlCache } from './cache.ts'
import type { Scan } from './routes/extreme.ts'
import type { LiquidationBoard } from './routes/liquidations.ts'
import type { PriceBoard } from './routes/prices.ts'
import type { AuditRow } from './views/audits.ts'
import type { Letters } from './views/letters.ts'
import type { TokenRow } from './views/tokens.ts'

/** Assets whose liquidations are kept; each board is up to 1000 events. */
const LIQUIDATION_BOARDS_MAX = 100

/** What many answers are cut from, so that they cost one query together. */
export interface Boards {
  readonly scans: TtlCache<Scan>
  readonly prices: TtlCache<PriceBoard>
  readonly tokens: TtlCache<readonly TokenRow[]>
  readonly liquidations: TtlCache<LiquidationBoard>
  readonly audits: TtlCache<readonly AuditRow[]>
  readonly letters: TtlCache<Letters>
}

/** `clock`: milliseconds of a steady clock. */
export function createBoards(clock: () => number): Boards {
  return {
    scans: new TtlCache({ keysMax: 1, clock }),
    prices: new TtlCache({ keysMax: 1, clock }),
    tokens: new TtlCache({ keysMax: 1, clock }),
    audits: new TtlCache({ keysMax: 1, clock }),
    letters: new TtlCache({ keysMax: 1, clock }),
    liquidations: new TtlCache({ keysMax: LIQUIDATION_BOARDS_MAX, clock }),
  }
}

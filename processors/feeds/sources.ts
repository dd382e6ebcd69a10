import { binanceSource } from './binance/source.ts'
import { bybitSource } from './bybit/source.ts'
import { coinbaseSource } from './coinbase/source.ts'
import { coingeckoSource } from './coingecko/source.ts'
import { gateSource } from './gate/source.ts'
import { krakenSource } from './kraken/source.ts'
import { okxSource } from './okx/source.ts'
import type { Source } from './source.ts'

/** Every venue that says something beside trades. One line each. */
export const sources: readonly Source[] = [
  binanceSource,
  bybitSource,
  okxSource,
  coinbaseSource,
  krakenSource,
  gateSource,
  coingeckoSource,
]

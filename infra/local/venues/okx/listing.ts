import { powerText, shortNumber } from '../amounts.ts'
import type { PerpMarket, SpotMarket } from '../economy.ts'
import { familyOf } from './data-rows.ts'

/** `public/instruments`: the swaps that trade, and what a reader of crypto swaps in USDT has to leave out. */
export function instruments(
  markets: readonly PerpMarket[],
  type: string,
): { instId: string; instFamily: string; state: string }[] {
  const [btc] = markets
  if (btc === undefined) return []
  const swap = row(btc)
  const like = (instFamily: string, more: object): ReturnType<typeof row> => {
    const [ctValCcy = '', settleCcy = ''] = instFamily.split('-')
    return { ...swap, instId: `${instFamily}-SWAP`, instFamily, uly: instFamily, ctValCcy, settleCcy, ...more }
  }
  const traded = new Set(markets.map(({ symbol }) => symbol))
  switch (type) {
    case 'SWAP':
      return [
        ...markets.map(row),
        ...[
          like('1INCH-USDT', { ctVal: '1' }),
          like('BTC-USD', { ctVal: '100', ctType: 'inverse', ctValCcy: 'USD', settleCcy: 'BTC' }),
          like('BTC-USDC', { ctVal: '0.0001' }),
          like('TSLA-USDT', { ctVal: '0.1', instCategory: '3' }),
          like('TON-USDT', { ctVal: '1', state: 'suspend' }),
          like('FRESH-USDT', { ctVal: '1', state: 'preopen' }),
        ].filter(({ instId }) => !traded.has(instId)),
      ]
    case 'FUTURES':
      return [
        like('BTC-USDT', {
          instId: 'BTC-USDT-261225',
          instType: 'FUTURES',
          expTime: '1798185600000',
          alias: 'quarter',
        }),
      ]
    default:
      return []
  }
}

/** A contract is worth `ctVal` of `ctValCcy`; `baseCcy` is empty for swaps, as the venue has it. */
function row(market: PerpMarket) {
  const family = familyOf(market)
  const lot = powerText(-market.sizeDecimals)
  return {
    alias: '',
    auctionEndTime: '',
    baseCcy: '',
    category: '1',
    contTdSwTime: '',
    ctMult: '1',
    ctType: 'linear',
    ctVal: powerText(market.factor),
    ctValCcy: market.base,
    expTime: '',
    futureSettlement: false,
    groupId: '1',
    instCategory: '1',
    instFamily: family,
    instId: market.symbol,
    instType: 'SWAP',
    lever: shortNumber(market.maxLeverage, 2),
    listTime: '1573557408000',
    lotSz: lot,
    maxIcebergSz: '100000000.0000000000000000',
    maxLmtAmt: '20000000',
    maxLmtSz: '100000000',
    maxMktAmt: '',
    maxMktSz: '35000',
    maxStopSz: '35000',
    maxTriggerSz: '100000000.0000000000000000',
    maxTwapSz: '100000000.0000000000000000',
    minSz: lot,
    openType: '',
    optType: '',
    posLmtAmt: '250000000',
    posLmtPct: '30',
    quoteCcy: '',
    ruleType: 'normal',
    settleCcy: 'USDT',
    state: 'live',
    stk: '',
    tickSz: powerText(-market.priceDecimals),
    tradeQuoteCcyList: [],
    uly: family,
  }
}

/** `public/instruments` of the type SPOT. */
export function spotInstruments(markets: readonly SpotMarket[], like: PerpMarket): { instId: string; state: string }[] {
  const traded = new Set(markets.map(({ symbol }) => symbol))
  const pair = (baseCcy: string, quoteCcy: string, more: object = {}): ReturnType<typeof row> => {
    const none = { ctMult: '', ctType: '', ctVal: '', ctValCcy: '', instFamily: '', settleCcy: '', uly: '' }
    return { ...row(like), ...none, instType: 'SPOT', instId: `${baseCcy}-${quoteCcy}`, baseCcy, quoteCcy, ...more }
  }
  const decoys = [
    pair('ETH', 'BTC'),
    pair('BTC', 'EUR'),
    pair('TON', 'USDT', { state: 'suspend' }),
    pair('FRESH', 'USDT', { state: 'preopen' }),
  ]
  const listed = markets.map(({ base, quote, priceDecimals, sizeDecimals }) => {
    const sizes = {
      tickSz: powerText(-priceDecimals),
      lotSz: powerText(-sizeDecimals),
      minSz: powerText(-sizeDecimals),
    }
    return pair(base, quote, sizes)
  })
  return [...listed, ...decoys.filter(({ instId }) => !traded.has(instId))]
}

export function isLive(rows: readonly { instId: string; state: string }[], instId: string): boolean {
  return rows.some((row) => row.instId === instId && row.state === 'live')
}

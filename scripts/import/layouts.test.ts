import { describe, expect, it } from 'vitest'
import { layoutOf, type LayoutName } from './layouts.ts'

const told = { symbol: 'BTCUSDT', market: 'perp' } as const
const read = (name: LayoutName, line: string) => layoutOf(name, told)(line.split(','))

describe('archives of Binance', () => {
  it('aggTrades of futures: the taker sold where the buyer was the maker, fills are counted', () => {
    expect(read('binance', '2345,60000.10,0.250,900,903,1722470400123,true')).toEqual({
      venue: 'binance',
      market: 'perp',
      received: 1_722_470_400_123_000,
      trade: {
        symbol: 'BTCUSDT',
        id: 2345,
        count: 4,
        sequence: null,
        price: '60000.10',
        size: '0.250',
        taker: 'sell',
        time: 1_722_470_400_123_000,
      },
    })
  })

  it('aggTrades of spot, with microseconds from 2025 on and Python’s spelling of the flag', () => {
    const found = read('binance', '7,1.5,2,70,70,1739663893706123,False,True')
    expect(found).toMatchObject({ trade: { id: 7, count: 1, taker: 'buy', time: 1_739_663_893_706_123 } })
  })

  it('trades of futures and of spot', () => {
    const futures = read('binance', '51,60000,0.1,6000,1722470400123,false')
    expect(futures).toMatchObject({ trade: { id: 51, size: '0.1', taker: 'buy', time: 1_722_470_400_123_000 } })
    expect(read('binance', '52,60000,0.1,6000,1722470400124,true,true')).toMatchObject({ trade: { taker: 'sell' } })
  })

  it('know their header', () => {
    expect(
      read('binance', 'agg_trade_id,price,quantity,first_trade_id,last_trade_id,transact_time,is_buyer_maker'),
    ).toBe('header')
  })

  it.each([
    ['1,2,3', 'bad-columns'],
    ['1,2,3,4,5,six,true', 'bad-field'],
    ['1,-2,3,4,5,1722470400123,true', 'bad-field'],
    ['1,2,0,4,5,1722470400123,true', 'bad-field'],
    ['1,2,3,5,4,1722470400123,maybe', 'bad-field'],
  ])('refuse %s as %s', (line, reason) => {
    expect(read('binance', line)).toBe(reason)
  })
})

describe('archives of Bybit', () => {
  it('have seconds with decimals, the taker’s side and a UUID', () => {
    const line =
      '1696982287.4922,BTCUSDT,Sell,0.86,5.2390,ZeroMinusTick,f7496ecb-b174-51b9-ba56-150186ba6c27,4.5e+08,0.86,4.5'
    expect(read('bybit', line)).toMatchObject({
      venue: 'bybit',
      trade: { symbol: 'BTCUSDT', taker: 'sell', size: '0.86', price: '5.2390', time: 1_696_982_287_492_200 },
    })
  })

  it('know their header and refuse what is no trade', () => {
    expect(read('bybit', 'timestamp,symbol,side,size,price,tickDirection,trdMatchID')).toBe('header')
    expect(read('bybit', '1696982287,BTCUSDT,Hold,1,1,x,f7496ecb-b174-51b9-ba56-150186ba6c27')).toBe('bad-field')
    expect(read('bybit', '1696982287,BTCUSDT,Buy,1,1,x,not-a-uuid')).toBe('bad-field')
  })
})

describe('archives of OKX', () => {
  const okx = (line: string) => layoutOf('okx', { symbol: 'BTC-USDT-SWAP', market: 'perp' })(line.split(','))
  const trade = { symbol: 'BTC-USDT-SWAP', id: 1_062_992_716, count: 1, taker: 'sell', price: '84000.1', size: '2.5' }

  it('have contracts and the taker’s side, with the instrument or, before 2024, without', () => {
    const time = 1_722_470_400_123_000
    const found = { venue: 'okx', received: time, trade: { ...trade, time } }
    expect(okx('BTC-USDT-SWAP,1062992716,sell,84000.1,2.5,1722470400123')).toMatchObject(found)
    expect(okx('1062992716,SELL,2.5,84000.1,1722470400123')).toMatchObject(found)
  })

  it('are read as recorded of 18 November 2023, whose file begins on the evening before', () => {
    const told = { symbol: 'BTC-USDT', market: 'spot' } as const
    const row = layoutOf('okx', told)('450372093,buy,0.00418025,35910.6,1700239042832'.split(','))
    expect(row).toMatchObject({ trade: { id: 450_372_093, taker: 'buy', size: '0.00418025', price: '35910.6' } })
    const header = 'trade_id/\u00c2id,side/,size/,price/,created_time/'
    expect(layoutOf('okx', told)(header.split(','))).toBe('header')
  })

  it.each([
    ['instrument_name,trade_id,side,price,size,created_time', 'header'],
    ['trade_id/id,side,size,price,created_time', 'header'],
    ['ETH-USDT-SWAP,1,sell,1,1,1722470400123', 'bad-field'],
    ['1,hold,1,1,1722470400123', 'bad-field'],
    ['1,2,3', 'bad-columns'],
  ])('refuse %s as %s', (line, reason) => {
    expect(okx(line)).toBe(reason)
  })
})

describe('archives of tardis.dev', () => {
  it('name their venue and have two times', () => {
    const line = 'binance-futures,BTCUSDT,1582329602111000,1582329602418379,42377944,buy,9682,0.132'
    expect(read('tardis', line)).toMatchObject({
      venue: 'binance',
      market: 'perp',
      received: 1_582_329_602_418_379,
      trade: { id: 42_377_944, price: '9682', size: '0.132', taker: 'buy', time: 1_582_329_602_111_000 },
    })
  })

  it('are refused where we do not know the venue or the side', () => {
    expect(read('tardis', 'deribit,BTC-PERPETUAL,1582329602111000,1582329602418379,1,buy,9682,1')).toBe(
      'unknown-exchange',
    )
    expect(read('tardis', 'bybit,BTCUSDT,1582329602111000,1582329602418379,1,unknown,9682,1')).toBe('bad-field')
    expect(read('tardis', 'exchange,symbol,timestamp,local_timestamp,id,side,price,amount')).toBe('header')
  })
})

import { describe, expect, it } from 'vitest'
import type { Instrument } from '../../../schemas/records.ts'
import { bySymbol, changedInstruments, resolveInstruments, type VenueMarkets } from './instruments.ts'
import type { Listed } from './venue.ts'

const at = 1_790_000_000_000_000
const none = new Map<string, Instrument>()

/** `WIFUSDT WIF 2.5, 1000PEPEUSDT PEPE/1000 0.012`: symbol, base (and multiplier), price in the venue's units or `-`; `!` behind it: not live. */
function markets(venue: string, text: string, source: 'venue' | 'seed' = 'venue'): VenueMarkets {
  const entries = text.split(', ').map((entry) => entry.split(' '))
  const rows = entries.map(([symbol = '', ticker = '', price = '']): Listed => {
    const [base = '', factor = '1'] = ticker.split('/')
    const [sizeFactor, priceFactor] = [Number(factor), Number(factor)]
    return {
      symbol,
      base,
      quote: 'USDT',
      settle: 'USDT',
      sizeFactor,
      priceFactor,
      tick: null,
      live: !price.endsWith('!'),
    }
  })
  const prices = entries.flatMap(([symbol = '', , price = '-']) =>
    price.startsWith('-') ? [] : [{ symbol, price: Number(price.replace('!', '')) }],
  )
  return { venue, market: 'perp', source, rows, prices }
}

function assets(...of: VenueMarkets[]): Record<string, string> {
  const { instruments } = resolveInstruments(of, none, at)
  return Object.fromEntries(instruments.map((row) => [`${row.venue} ${row.symbol}`, row.asset]))
}

function logOf(rows: readonly Instrument[]): Map<string, Instrument> {
  return new Map(rows.map((row) => [row.instrument, row]))
}

describe('joining listings to assets', () => {
  it('follows the checked-in map through renames and multipliers', () => {
    expect(
      assets(
        markets('binance', '1000PEPEUSDT PEPE/1000 0.0123, POLUSDT POL 0.2, MATICUSDT MATIC 0.2, GRAMUSDT GRAM 3'),
        markets('okx', 'PEPE-USDT-SWAP PEPE 0.0000123, GRAM-USDT-SWAP GRAM 3.01'),
        markets('coinbase', 'TON-USD TON 2.99'),
      ),
    ).toEqual({
      'binance 1000PEPEUSDT': 'pepe',
      'binance POLUSDT': 'matic',
      'binance MATICUSDT': 'matic',
      'binance GRAMUSDT': 'ton',
      'okx PEPE-USDT-SWAP': 'pepe',
      'okx GRAM-USDT-SWAP': 'ton',
      'coinbase TON-USD': 'ton',
    })
  })

  it('joins other bases by a price within 5 % and keeps namesakes apart', () => {
    expect(
      assets(
        markets('binance', 'WIFUSDT WIF 2, CATUSDT CAT 1'),
        markets('bybit', 'WIFUSDT WIF 2.099, CATUSDT CAT 1.06'),
        markets('okx', 'WIF-USDT-SWAP WIF 1.899, CAT-USDT-SWAP CAT 1.02'),
      ),
    ).toEqual({
      'binance WIFUSDT': 'wif',
      'binance CATUSDT': 'cat',
      'bybit WIFUSDT': 'wif',
      'bybit CATUSDT': 'cat.bybit',
      'okx WIF-USDT-SWAP': 'wif.okx',
      'okx CAT-USDT-SWAP': 'cat',
    })
  })

  it('lets a third venue join the namesake whose price fits', () => {
    expect(
      assets(markets('binance', 'XUSDT X 1'), markets('bybit', 'XUSDT X 9'), markets('okx', 'X-USDT-SWAP X 9.1')),
    ).toMatchObject({ 'bybit XUSDT': 'x.bybit', 'okx X-USDT-SWAP': 'x.bybit' })
  })

  it('leaves a market without a price out while another has its name, and says so', () => {
    const listed = [markets('binance', 'WIFUSDT WIF -'), markets('bybit', 'WIFUSDT WIF 2')]
    const { instruments, doubts } = resolveInstruments(listed, none, at)
    expect(instruments.map(({ instrument, asset }) => [instrument, asset])).toEqual([['bybit:perp:WIFUSDT', 'wif']])
    expect(doubts).toEqual([{ instrument: 'binance:perp:WIFUSDT', expected: 'wif', price: null, reference: 2 }])
  })

  it('joins it once it has a price, also to what the log has of a later venue alone', () => {
    const before = resolveInstruments([markets('bybit', 'WIFUSDT WIF 2')], none, at).instruments
    const now = [markets('binance', 'WIFUSDT WIF 2.01'), markets('bybit', 'WIFUSDT WIF 2')]
    expect(resolveInstruments(now, logOf(before), at).instruments.map(({ asset }) => asset)).toEqual(['wif', 'wif'])
  })

  it('places a market without a price by its name where no other has it', () => {
    expect(assets(markets('binance', 'WIFUSDT WIF -'))).toEqual({ 'binance WIFUSDT': 'wif' })
  })

  it('leaves out what is announced without a price, so that whoever trades first has the name', () => {
    const announced = [markets('binance', 'NEWUSDT NEW -!'), markets('okx', 'NEW-USDT-SWAP NEW -!')]
    expect(resolveInstruments(announced, none, at)).toEqual({ instruments: [], doubts: [] })
    const first = [markets('binance', 'NEWUSDT NEW -!'), markets('okx', 'NEW-USDT-SWAP NEW 0.5')]
    const before = resolveInstruments(first, none, at).instruments
    expect(before).toMatchObject([{ instrument: 'okx:perp:NEW-USDT-SWAP', asset: 'new' }])
    const both = [markets('binance', 'NEWUSDT NEW 0.5'), markets('okx', 'NEW-USDT-SWAP NEW 0.5')]
    expect(resolveInstruments(both, logOf(before), at).instruments.map(({ asset }) => asset)).toEqual(['new', 'new'])
  })

  it('places only what the map and the log know where a venue did not tell its prices', () => {
    const before = resolveInstruments([markets('binance', 'WIFUSDT WIF 2')], none, at).instruments
    const now = { ...markets('binance', 'WIFUSDT WIF -, BTCUSDT BTC -, XUSDT X -'), arePricesOld: true as const }
    const { instruments, doubts } = resolveInstruments([now], logOf(before), at)
    expect(instruments.map(({ asset }) => asset)).toEqual(['wif', 'btc'])
    expect(doubts).toEqual([])
  })

  it('does not go by the last price of a market that has ended', () => {
    const before = resolveInstruments(
      [markets('binance', 'XYZUSDT XYZ 0.9'), markets('bybit', 'XYZUSDT XYZ 0.9')],
      none,
      at,
    ).instruments
    const now = [markets('binance', 'XYZUSDT XYZ 0.9!'), markets('bybit', 'XYZUSDT XYZ 0.15')]
    const { instruments, doubts } = resolveInstruments(now, logOf(before), at)
    expect(instruments.map(({ asset, status }) => [asset, status])).toEqual([
      ['xyz', 'closed'],
      ['xyz', 'live'],
    ])
    expect(doubts).toEqual([])
    expect(assets(markets('binance', 'OMGUSDT OMG 0.25!'), markets('okx', 'OMG-USDT OMG 0.2'))).toEqual({
      'okx OMG-USDT': 'omg',
    })
  })

  it('compares prices of one unit, multipliers taken out', () => {
    expect(
      assets(markets('binance', '1000SATSUSDT SATS/1000 0.00012'), markets('bybit', '10000SATSUSDT SATS/10000 0.0012')),
    ).toMatchObject({ 'bybit 10000SATSUSDT': 'sats' })
  })

  it('doubts a mapped ticker whose price most venues contradict', () => {
    const { instruments, doubts } = resolveInstruments(
      [
        markets('binance', 'GRAMUSDT GRAM 0.003'),
        markets('bybit', 'GRAMUSDT GRAM 3'),
        markets('okx', 'GRAM-USDT-SWAP GRAM 3.1'),
      ],
      none,
      at,
    )
    expect(instruments.map(({ asset }) => asset)).toEqual(['gram.binance', 'ton', 'ton'])
    expect(doubts).toEqual([{ instrument: 'binance:perp:GRAMUSDT', expected: 'ton', price: 0.003, reference: 3 }])
  })

  it('doubts a contract whose multiplier it reads wrong', () => {
    const { doubts } = resolveInstruments(
      [markets('binance', 'PEPEUSDT PEPE 0.00001'), markets('bybit', '1000PEPEUSDT PEPE 0.01')],
      none,
      at,
    )
    expect(doubts.map(({ instrument }) => instrument)).toEqual(['bybit:perp:1000PEPEUSDT'])
  })
})

describe('instruments already in the log', () => {
  const before = resolveInstruments(
    [markets('binance', 'WIFUSDT WIF 2, OLDUSDT OLD 1'), markets('bybit', 'WIFUSDT WIF 7')],
    none,
    at,
  ).instruments

  it('keep their asset when prices have come together or are missing', () => {
    const now = [markets('binance', 'WIFUSDT WIF 2, OLDUSDT OLD 1'), markets('bybit', 'WIFUSDT WIF 2')]
    expect(resolveInstruments(now, logOf(before), at).instruments.map(({ asset }) => asset)).toEqual([
      'wif',
      'old',
      'wif.bybit',
    ])
  })

  it('write nothing while nothing changed, whatever the time', () => {
    const now = [markets('binance', 'WIFUSDT WIF 2, OLDUSDT OLD 1'), markets('bybit', 'WIFUSDT WIF 7')]
    const { instruments } = resolveInstruments(now, logOf(before), at + 1)
    expect(changedInstruments(instruments, logOf(before))).toEqual([])
  })

  it('are closed once their venue no longer lists them', () => {
    const now = [markets('binance', 'WIFUSDT WIF 2'), markets('bybit', 'WIFUSDT WIF 7')]
    const { instruments } = resolveInstruments(now, logOf(before), at + 1)
    expect(changedInstruments(instruments, logOf(before))).toMatchObject([
      { symbol: 'OLDUSDT', status: 'closed', valid_from: at + 1 },
    ])
    expect(bySymbol(instruments).get('binance')?.has('OLDUSDT')).toBe(false)
  })

  it('stay as they were while their venue cannot be asked, and keep their ids from namesakes', () => {
    const now = [markets('binance', 'BTCUSDT BTC -', 'seed'), markets('okx', 'WIF-USDT-SWAP WIF 55')]
    const { instruments } = resolveInstruments(now, logOf(before), at + 1)
    const found = bySymbol(instruments)
    expect(found.get('binance')?.get('WIFUSDT')).toMatchObject({ asset: 'wif', source: 'venue', valid_from: at })
    expect(found.get('binance')?.get('BTCUSDT')).toMatchObject({ asset: 'btc', source: 'seed' })
    expect(found.get('okx')?.get('WIF-USDT-SWAP')).toMatchObject({ asset: 'wif.okx' })
  })

  it('are written again when a contract changes its size', () => {
    const now = [markets('binance', 'WIFUSDT WIF/1000 2000, OLDUSDT OLD 1'), markets('bybit', 'WIFUSDT WIF 7')]
    const { instruments } = resolveInstruments(now, logOf(before), at + 1)
    expect(changedInstruments(instruments, logOf(before))).toMatchObject([{ symbol: 'WIFUSDT', size_factor: 1000 }])
  })
})

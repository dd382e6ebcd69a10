import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { fileTape } from '../../infra/tapes/file-tape.ts'
import type { Message } from '../../schemas/records.ts'
import type { Market } from '../../schemas/venues.ts'
import { backtest } from '../backtest/backtest.ts'
import { readOptions } from '../backtest/options.ts'
import { zipOf } from '../../infra/simulator/venues/archives.ts'
import { linesOf } from '../../processors/feeds/transport/archive-lines.ts'
import type { ArchiveFile } from './archive.ts'
import { writeArchive, type Imported } from './write-archive.ts'

const T0 = 1_722_470_400_000
let folder: string

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'archive-'))
})
afterEach(() => {
  rmSync(folder, { recursive: true, force: true })
})

function put(name: string, content: string | Buffer): string {
  const file = path.join(folder, name)
  writeFileSync(file, content)
  return file
}

/** Binance's aggTrades: one at each of `seconds`, all buys of 1 BTC. */
const binance = (...seconds: readonly number[]): string =>
  seconds.map((second, index) => `${index + 1},60000.5,1.000,${index},${index},${T0 + second * 1000},false\n`).join('')

const bybit = (...seconds: readonly number[]): string =>
  'timestamp,symbol,side,size,price,tickDirection,trdMatchID\n' +
  seconds
    .map(
      (second, index) =>
        `${(T0 + second * 1000) / 1000},BTCUSDT,Sell,2,60001,x,f7496ecb-b174-51b9-ba56-15018${index}ba6c27\n`,
    )
    .join('')

/** tardis.dev's trades of Binance's futures, one a second, each of the next symbol. */
const tardis = (...symbols: readonly string[]): string =>
  'exchange,symbol,timestamp,local_timestamp,id,side,price,amount\n' +
  symbols
    .map((symbol, second) => {
      const time = (T0 + second * 1000) * 1000
      return `binance-futures,${symbol},${time},${time + 9},${second + 1},buy,100,1\n`
    })
    .join('')

function write(
  files: readonly ArchiveFile[],
  out = 'tape',
  stop = new AbortController().signal,
  market: Market = 'perp',
): Promise<Imported> {
  const around = { market, partitions: 2, folder: path.join(folder, out), onProgress: () => undefined } as const
  return writeArchive({ files, stop, ...around })
}

async function messages(out = 'tape', partition = 0): Promise<Message[]> {
  const tape = fileTape(path.join(folder, out))
  const found: Message[] = []
  for await (const records of tape.read(await tape.span('market.trades', partition, { from: 0, to: Infinity }))) {
    for (const { value } of records) if (value !== null) found.push(tape.codec.decode(value))
  }
  return found
}

describe('an import of archives', () => {
  it('is refused while another writes into its folder', async () => {
    const files: ArchiveFile[] = [{ layout: 'binance', file: put('BTCUSDT-aggTrades-2024-08-01.csv', binance(0, 2)) }]
    const [first, second] = await Promise.allSettled([write(files), write(files)])
    expect([first, second]).toMatchObject([{ value: { isDone: true } }, { reason: { code: 'refused' } }])
  })

  it('merges files by time and marks every second between, and the buckets’ end behind', async () => {
    const files: ArchiveFile[] = [
      { layout: 'binance', file: put('BTCUSDT-aggTrades-2024-08-01.csv', binance(0, 2)) },
      { layout: 'bybit', file: put('BTCUSDT2024-08-01.csv', bybit(1)) },
    ]
    expect(await write(files)).toMatchObject({ isDone: true })
    const told = (await messages()).map(({ type, value }) => {
      const time = 'time' in value ? (value.time / 1000 - T0) / 1000 : -1
      return type === 'trade' && 'instrument' in value ? `${value.instrument} ${time}` : `${type} ${time}`
    })
    expect(told.slice(0, 6)).toEqual([
      'mark 0',
      'binance:perp:BTCUSDT 0',
      'mark 1',
      'bybit:perp:BTCUSDT 1',
      'mark 2',
      'binance:perp:BTCUSDT 2',
    ])
    expect(told.at(-1)).toBe('mark 15')
    const trade = (await messages()).find(({ type }) => type === 'trade')
    expect(trade?.value).toMatchObject({ asset: 'btc', origin: 'import', gap_id: null, taker: 'buy', price: 60_000.5 })
  })

  it('gives the same tape when it was stopped and run again', async () => {
    const file = put('BTCUSDT-aggTrades-2024-08-01.csv', binance(...Array.from({ length: 50 }, (_, at) => at)))
    const stopped = AbortSignal.abort()
    expect(await write([{ layout: 'binance', file }], 'again', stopped)).toMatchObject({ isDone: false })
    expect(() => fileTape(path.join(folder, 'again'))).toThrow(/holds no tape/)
    await write([{ layout: 'binance', file }], 'again')
    await write([{ layout: 'binance', file }], 'tape')
    const segments = (name: string): string => readFileSync(path.join(folder, name, 'segments.jsonl'), 'utf8')
    expect(segments('again')).toBe(segments('tape'))
    await expect(write([{ layout: 'binance', file: put('BTCUSDT-other.csv', binance(1)) }])).rejects.toThrow(
      /holds another import/,
    )
  })

  it('names trades of spot as the feeds name them, of each venue whose files have them', async () => {
    const okx = `trade_id,side,size,price,created_time\n1,buy,2,60001,${T0 + 1000}\n`
    const tardisLine = (exchange: string, symbol: string, id: string): string =>
      `${exchange},${symbol},${T0 * 1000},${T0 * 1000},${id},buy,100,1\n`
    const files: ArchiveFile[] = [
      { layout: 'binance', file: put('BTCUSDT-aggTrades-2024-08-01.csv', binance(0)) },
      { layout: 'okx', file: put('BTC-USDT-trades-2024-08-01.csv', okx) },
      { layout: 'tardis', file: put('okex.csv', tardisLine('okex', 'BTC-USDT', '1')) },
      { layout: 'tardis', file: put('binance.csv', tardisLine('binance', 'BTCUSDT', '2')) },
      {
        layout: 'tardis',
        file: put('bybit.csv', tardisLine('bybit-spot', 'BTCUSDC', 'f7496ecb-b174-51b9-ba56-15018a3ba6c2')),
      },
    ]
    expect(await write(files, 'tape', undefined, 'spot')).toMatchObject({ isDone: true, refusals: new Map() })
    const named = (await messages()).flatMap(({ type, value }) => (type === 'trade' ? [value.instrument] : []))
    expect(new Set(named)).toEqual(new Set(['binance_spot:spot:BTCUSDT', 'okx:spot:BTC-USDT', 'bybit:spot:BTCUSDC']))
    expect(named).toHaveLength(5)
  })

  describe('of days that do not adjoin', () => {
    const DAY = 86_400
    const day = (date: string, ...seconds: readonly number[]): ArchiveFile => {
      const file = put(`BTCUSDT-aggTrades-${date}.csv`, binance(...seconds))
      return { layout: 'binance', file }
    }
    const gapsIn = async (out: string): Promise<unknown[]> =>
      (await messages(out)).flatMap(({ type, value }) => (type === 'gap' ? [value] : []))

    it('says that those between are missing, before the first mark of them', async () => {
      await write([day('2024-08-01', 0, 10), day('2024-08-30', 29 * DAY + 5)])
      const told = (await messages()).map(({ type }) => type)
      const [from_time, to_time] = [(T0 + 10_000) * 1000, (T0 + (29 * DAY + 5) * 1000) * 1000]
      expect(await gapsIn('tape')).toMatchObject([
        {
          instrument: 'binance:perp:BTCUSDT',
          asset: 'btc',
          gap_id: from_time,
          state: 'unfillable',
          from_time,
          to_time,
        },
      ])
      expect(told.slice(told.indexOf('gap') - 1, told.indexOf('gap') + 2)).toEqual(['trade', 'gap', 'mark'])
    })

    it('says nothing of a market that is quiet over midnight, or for hours of one file', async () => {
      await write([day('2024-08-01', 0, 10), day('2024-08-02', DAY + 40_000, DAY + 50_000)], 'days')
      expect(await gapsIn('days')).toEqual([])
      await write([day('2024-07', -7_200, -7_100), day('2024-08-01', 7_000)], 'month')
      expect(await gapsIn('month')).toEqual([])
    })

    it('goes by the trades where a name has no date', async () => {
      const parts = [
        put('BTCUSDT-a.csv', binance(0, 10)),
        put('BTCUSDT-b.csv', binance(3_600)),
        put('BTCUSDT-c.csv', binance(7_300)),
      ]
      await write(parts.map((file) => ({ layout: 'binance', file })))
      expect(await gapsIn('tape')).toMatchObject([
        { from_time: (T0 + 3_600_000) * 1000, to_time: (T0 + 7_300_000) * 1000 },
      ])
    })

    it('counts no signal over 7 days as covered by the minutes that it was given', async () => {
      const files = [day('2024-08-01', ...Array.from({ length: 60 }, (_, at) => at)), day('2024-08-07', 6 * DAY + 5)]
      await write(files)
      const options = readOptions(['--mode', 'archive', '--source', 'tape', '--horizons', '10s'])
      if (options === undefined) throw new Error('it is no call for help')
      const around = { onProgress: () => undefined, warn: () => undefined, stop: new AbortController().signal }
      const { study } = await backtest(fileTape(path.join(folder, 'tape')), options, around)
      expect(study.signals.filter(({ period }) => period === '7d').map(({ to }) => to)).toEqual([])
    })
  })

  it('refuses a file that is no such archive, or out of order, by its line', async () => {
    const noise = put('BTCUSDT-noise.csv', `${binance(0)}${'x,y\n'.repeat(20)}`)
    await expect(write([{ layout: 'binance', file: noise }])).rejects.toThrow(/line \d+: bad-columns; is it a binance/)
    const back = put('BTCUSDT-back.csv', binance(10, 5))
    await expect(write([{ layout: 'binance', file: back }], 'back')).rejects.toThrow(/line 2: .* sort the file by time/)
  })

  it('refuses a file with symbols of several partitions, and takes those of one', async () => {
    const file = put('grouped.csv', tardis('BTCUSDT', 'BTCUSDT', 'ETHUSDT'))
    await expect(write([{ layout: 'tardis', file }], 'grouped')).rejects.toThrow(
      /grouped\.csv, line 4: binance:perp:ETHUSDT .* split the file by symbol/,
    )
    await write([{ layout: 'tardis', file: put('even.csv', tardis('BTCUSDT', 'SOLUSDT', 'BTCUSDT')) }])
    const trades = (await messages()).filter(({ type }) => type === 'trade')
    expect(trades.map(({ value }) => 'asset' in value && value.asset)).toEqual(['btc', 'sol', 'btc'])
    const parts = [put('btc.csv', tardis('BTCUSDT')), put('eth.csv', tardis('ETHUSDT'))]
    await write(
      parts.map((part) => ({ layout: 'tardis', file: part })),
      'parts',
    )
    expect((await messages('parts', 1)).find(({ type }) => type === 'trade')?.value).toMatchObject({ asset: 'eth' })
  })

  it('is replayed in archive mode: flows and signals by its marks, prices by its trades', async () => {
    const seconds = Array.from({ length: 1_000 }, (_, at) => at)
    await write([{ layout: 'binance', file: put('BTCUSDT-aggTrades-2024-08-01.csv', binance(...seconds)) }])
    const options = readOptions(['--mode', 'archive', '--source', 'tape', '--horizons', '10s'])
    if (options === undefined) throw new Error('it is no call for help')
    const stop = new AbortController().signal
    const around = { onProgress: () => undefined, warn: () => undefined, stop }
    const { study } = await backtest(fileTape(path.join(folder, 'tape')), options, around)
    const [first] = study.signals
    expect(first).toMatchObject({ symbol: 'BTC', period: '1h', to: 'strong_bullish_pressure', side: 'long' })
    expect(first?.fill).toMatchObject({ price: 60_000.5, time: (T0 + 903_000) * 1000 })
    expect(first?.returns).toEqual([0])
  })

  it('rings alerts in archive mode at the prices of its trades', async () => {
    const seconds = Array.from({ length: 1_000 }, (_, at) => at)
    const rising = seconds.map((at) => `${at + 1},${60_000 + at},1.000,${at},${at},${T0 + at * 1000},false\n`).join('')
    await write([{ layout: 'binance', file: put('BTCUSDT-aggTrades-2024-08-01.csv', rising) }])
    const run = async (alerts: readonly object[]) => {
      const file = put('alerts.json', JSON.stringify(alerts))
      const options = readOptions(['--mode', 'archive', '--source', 'tape', '--horizons', '10s', '--alerts', file])
      if (options === undefined) throw new Error('it is no call for help')
      const around = { onProgress: () => undefined, warn: () => undefined, stop: new AbortController().signal }
      return (await backtest(fileTape(path.join(folder, 'tape')), options, around)).study.triggers
    }
    const when = { metric: 'price', operator: 'above', value: 60_700 }
    const alerts = [
      { symbol: 'BTC', condition: 'above', target_price: 60_500 },
      { symbol: 'BTC', when, held_for: '1m', repeat: false },
    ]
    expect((await run(alerts)).map(({ price, time }) => [price, (time / 1000 - T0) / 1000])).toEqual([
      [60_501, 501],
      [60_760, 761],
    ])
    const risk = { symbol: 'BTC', kind: 'liquidation', threshold_pct: 4 }
    await expect(run([risk])).rejects.toThrow(/alert 1: nothing that is read here tells liquidation_risk_pct/)
  })
})

describe('lines of an archive', () => {
  const text = 'a,1\nb,2\n'
  const all = async (file: string): Promise<string[]> => {
    const lines: string[] = []
    for await (const some of linesOf(file)) lines.push(...some)
    return lines
  }

  it('are read plain, gzipped and zipped', async () => {
    expect(await all(put('x.csv', text))).toEqual(['a,1', 'b,2'])
    expect(await all(put('x.csv.gz', gzipSync(text)))).toEqual(['a,1', 'b,2'])
    expect(await all(put('x.zip', zipOf('x.csv', text)))).toEqual(['a,1', 'b,2'])
  })

  it('of a damaged file are an error, not an end', async () => {
    const half = gzipSync('line\n'.repeat(10_000)).subarray(0, 60)
    await expect(all(put('x.csv.gz', half))).rejects.toThrow(/x\.csv\.gz cannot be read/)
    await expect(all(put('y.zip', Buffer.from('no zip')))).rejects.toThrow(/is no zip file/)
    const other = zipOf('x.csv', text)
    other[14] = (other[14] ?? 0) ^ 1
    const directory = other.length - 22 - 46 - 'x.csv'.length
    other[directory + 16] = (other[directory + 16] ?? 0) ^ 1
    await expect(all(put('z.zip', other))).rejects.toThrow(/CRC-32 is not what its directory says/)
  })
})

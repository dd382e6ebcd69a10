import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { startVenues } from '../../infra/simulator/simulator.ts'
import { ArchiveFold, type PastFlow } from '../../processors/cvd/archive.ts'
import { fromImport, normaliser } from '../../processors/feeds/trades/stream.ts'
import { download } from '../../processors/feeds/transport/archive-download.ts'
import { linesOf } from '../../processors/feeds/transport/archive-lines.ts'
import { resolveInstruments } from '../../processors/feeds/venues/instruments.ts'
import { tradeStreams, venues } from '../../processors/feeds/venues/venues.ts'
import type { Instrument } from '../../schemas/records.ts'
import { withSections } from '../docs/sections.ts'
import type { Bench, Figure } from '../figure.ts'

const DAY_MS = 86_400_000
const DAYS = 3
const HOURS = DAYS * 24
/** Those whose candles say what takers bought, with the call of the candles. */
const told = { binance: 'binance/fapi/v1/klines', binance_spot: 'binance-spot/api/v3/klines' } as const
/** Those whose candles do not. */
const untold = ['bybit', 'okx'] as const

type Name = keyof typeof told | (typeof untold)[number]

/** An hour by the venue's candle. */
interface CandleHour {
  readonly startMs: number
  readonly volume: number
  readonly delta: number
  /** At the mean of high, low and close, as the view `cvd` has it. */
  readonly deltaQuote: number
}

/**
 * CVD by candles beside CVD by trades, over the same hours of the simulated past, per venue: how far the sums of an hour are
 * from each other, and how fast archives are folded. What it means stands in api/docs/guides/history.md.
 */
const bench: Bench = async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'cvd-methods-'))
  const simulator = await startVenues({ dataDir: folder, host: '127.0.0.1', port: 0, seed: 1, rate: 150 })
  try {
    const figures: Figure[] = []
    for (const name of ['binance', 'binance_spot', ...untold] as const) {
      const began = performance.now()
      const { hours, rows } = await archiveHours(name, simulator.url, folder)
      const rate = rows / ((performance.now() - began) / 1_000)
      figures.push(figure(`${name}: archive rows a second, fetched, folded`, rate, '/s', rows))
      if (name === 'binance' || name === 'binance_spot')
        figures.push(...compared(name, hours, await candleHours(simulator.url + '/' + told[name], hours)))
      else figures.push(figure(`${name}: volume whose taker its candles say`, 0, 'share', hours.length))
    }
    writeTable(figures)
    return figures
  } finally {
    await simulator.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

export default bench

const GUIDE = new URL('../../api/docs/guides/history.md', import.meta.url)

/** The measured differences, where the guide tells of them. */
function writeTable(figures: readonly Figure[]): void {
  const rows = ['binance', 'binance_spot'].map((venue) => {
    const [mean, most, usdMean, usdMost] = figures
      .filter(({ metric }) => metric.startsWith(`${venue}: `))
      .slice(1)
      .map(({ value }) => (value < 1e-12 ? '0' : `${(value * 100).toFixed(4)} %`))
    return `| ${venue} | ${HOURS} | ${mean} | ${most} | ${usdMean} | ${usdMost} |`
  })
  const head = [
    '| venue | hours | delta, mean | delta, largest | in USD, mean | in USD, largest |',
    '| --- | --- | --- | --- | --- | --- |',
  ]
  const none = untold.map((venue) => `| ${venue} | ${HOURS} | its candles do not say | | | |`)
  const table = [...head, ...rows, ...none].join('\n')
  const text = readFileSync(GUIDE, 'utf8')
  writeFileSync(GUIDE, withSections(text, { 'cvd-methods': table }))
}

/** By the largest and the mean hour, as a share of the hour's volume. */
function compared(name: Name, trades: readonly PastFlow[], candles: readonly CandleHour[]): Figure[] {
  const of = trades.map((hour, at) => {
    const candle = candles[at] ?? { startMs: 0, volume: 0, delta: NaN, deltaQuote: NaN }
    const volume = hour.buy + hour.sell
    const quote = hour.buy_quote + hour.sell_quote
    return {
      base: Math.abs(candle.delta - (hour.buy - hour.sell)) / volume,
      quote: Math.abs(candle.deltaQuote - (hour.buy_quote - hour.sell_quote)) / quote,
    }
  })
  const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length
  const [base, quote] = [of.map((one) => one.base), of.map((one) => one.quote)]
  return [
    figure(`${name}: delta of an hour, mean difference`, mean(base), 'of volume', HOURS),
    figure(`${name}: delta of an hour, largest`, Math.max(...base), 'of volume', HOURS),
    figure(`${name}: the same in USD, mean difference`, mean(quote), 'of volume', HOURS),
    figure(`${name}: the same in USD, largest`, Math.max(...quote), 'of volume', HOURS),
  ]
}

function figure(metric: string, value: number, unit: string, n: number): Figure {
  return { metric, value, unit, n }
}

async function archiveHours(name: Name, url: string, folder: string): Promise<{ hours: PastFlow[]; rows: number }> {
  const archive = venues.find((venue) => venue.name === name)?.archive
  if (archive === undefined) throw new Error(`${name} has no archive`)
  const instrument = bitcoinOf(name)
  const normalise = normaliser(instrument)
  const today = Math.floor(Date.now() / DAY_MS) * DAY_MS
  const hours: PastFlow[] = []
  let rows = 0
  for (let day = DAYS + 1; day > 1; day--) {
    const filePath = archive.path(instrument.symbol, new Date(today - day * DAY_MS).toISOString().slice(0, 10))
    const file = path.join(folder, `archive${filePath.slice(filePath.lastIndexOf('.'))}`)
    const base = `${url}/${name === 'binance_spot' ? 'binance' : name}-archive`
    const checksumUrl = archive.checksumOf && base + archive.checksumOf(filePath)
    const outcome = await download({ url: base + filePath, checksumUrl, file, stop: new AbortController().signal })
    if (outcome.kind !== 'file') throw new Error(`${filePath}: ${JSON.stringify(outcome)}`)
    const fold = new ArchiveFold()
    for await (const lines of linesOf(file)) {
      for (const line of lines) {
        const trade = archive.read(line.split(','), instrument.symbol)
        if (typeof trade === 'string') continue
        rows += 1
        fold.add(normalise(trade, trade.time, fromImport))
      }
    }
    hours.push(...fold.end().filter(({ seconds }) => seconds === 3_600))
  }
  return { hours, rows }
}

async function candleHours(url: string, hours: readonly PastFlow[]): Promise<CandleHour[]> {
  const first = (hours[0]?.start ?? 0) / 1_000
  const answer = await fetch(`${url}?symbol=BTCUSDT&interval=1h&startTime=${first}&limit=${HOURS}`)
  const rows = (await answer.json()) as string[][]
  return rows.map((row) => {
    const [startMs = 0, , high = 0, low = 0, close = 0, volume = 0, , , , buy = 0] = row.map(Number)
    const delta = 2 * buy - volume
    return { startMs, volume, delta, deltaQuote: (delta * (high + low + close)) / 3 }
  })
}

function bitcoinOf(name: Name): Instrument {
  const { market, listing } = tradeStreams[name]
  const row = listing.seed.find(({ base, quote }) => base === 'BTC' && quote === 'USDT')
  if (row === undefined) throw new Error(`${name} has no seed row of BTC`)
  const lists = [{ venue: name, market, source: 'seed' as const, rows: [row], prices: [] }]
  const [instrument] = resolveInstruments(lists, new Map(), 0).instruments
  if (instrument === undefined) throw new Error(`${name} has no instrument of BTC`)
  return instrument
}

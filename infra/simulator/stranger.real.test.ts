import ccxt, { type Trade as CcxtTrade } from 'ccxt'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { LedgerRow } from './ledger/history.ts'
import { type Simulator, startVenues } from './simulator.ts'

/** A third party's client, unmodified but for its URLs, is the judge of how true the simulated venues are. */
const cases = [
  {
    venue: 'binance',
    client: () => new ccxt.pro.binanceusdm({ newUpdates: true }),
    hosts: [/^(https|wss):\/\/f(api|stream)\.binance\.com/],
    params: { name: 'aggTrade' },
    symbols: { BTC: 'BTC/USDT:USDT', ETH: 'ETH/USDT:USDT', PEPE: '1000PEPE/USDT:USDT' },
    // ccxt takes 1000PEPE for the name of the base.
    factor: { PEPE: 1000n },
  },
  {
    venue: 'binance',
    client: () => new ccxt.pro.binanceusdm({ newUpdates: true }),
    hosts: [/^(https|wss):\/\/f(api|stream)\.binance\.com/],
    // Its default: single trades from the /public route. They merge to the ledger's aggregates, so only volumes compare.
    params: {},
    symbols: { BTC: 'BTC/USDT:USDT' },
    volumesOnly: true,
  },
  {
    venue: 'bybit',
    client: () => new ccxt.pro.bybit({ newUpdates: true }),
    hosts: [/^(https|wss):\/\/(api|stream)\.\{hostname\}/],
    params: {},
    symbols: { BTC: 'BTC/USDT:USDT', ETH: 'ETH/USDT:USDT', SHIB: 'SHIB1000/USDT:USDT' },
    factor: { SHIB: 1000n },
  },
  {
    venue: 'okx',
    client: () => new ccxt.pro.okx({ newUpdates: true }),
    hosts: [/^https:\/\/\{hostname\}/, /^wss:\/\/ws\.okx\.com:8443/],
    // ccxt reads `trades-all` only after a login, so it watches `trades`, which merges what one order fills.
    params: {},
    symbols: { BTC: 'BTC/USDT:USDT', ETH: 'ETH/USDT:USDT', PEPE: 'PEPE/USDT:USDT' },
  },
  {
    venue: 'coinbase',
    client: () => new ccxt.pro.coinbaseexchange({ newUpdates: true }),
    hosts: [/^https:\/\/api\.\{hostname\}/, /^wss:\/\/ws-feed\.exchange\.coinbase\.com/],
    params: {},
    symbols: { BTC: 'BTC/USD', ETH: 'ETH/USD' },
  },
] as const

const WAIT_MS = 15_000
/** Volumes are compared as whole numbers of 10^-12 base units. */
const DECIMALS = 12

let simulator: Simulator
let dataDir: string

/** A fresh one each time, whose ledger begins with the client's own subscription. */
beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'stranger-'))
  simulator = await startVenues({ dataDir, host: '127.0.0.1', port: 0, seed: 5, rate: 1500 })
})

afterEach(async () => {
  await simulator.close()
  rmSync(dataDir, { recursive: true, force: true })
})

test.each(cases)(
  'ccxt watches $venue with $params and its totals equal the ledger',
  async ({ venue, client, hosts, params, symbols, ...rest }) => {
    const factors: Readonly<Record<string, bigint>> = 'factor' in rest ? rest.factor : {}
    const compared = 'volumesOnly' in rest ? volumesOf : (rows: readonly Row[]): readonly Row[] => rows
    const exchange = client()
    exchange.urls = redirected(exchange.urls, hosts, `${simulator.url}/${venue}`) as typeof exchange.urls
    // What ccxt asks of a caller whose URLs are not encrypted.
    await exchange.loadHttpProxyAgent()
    await exchange.loadMarkets()
    const heard = new Map(Object.keys(symbols).map((asset) => [asset, { asset, trades: 0, buy: 0n, sell: 0n }]))
    const stop = new AbortController()
    const loops = Object.entries(symbols).map(async ([asset, symbol]) => {
      const { contractSize } = exchange.market(symbol)
      while (!stop.signal.aborted) {
        const trades = await exchange.watchTrades(symbol, undefined, undefined, params)
        for (const trade of trades.filter(counts)) add(heard.get(asset), trade, contractSize ?? 1, factors[asset] ?? 1n)
      }
    })
    const failed = Promise.all(loops).then(() => undefined)
    await Promise.race([
      failed,
      vi.waitFor(() => expect([...heard.values()].every(({ trades }) => trades >= 10)).toBe(true), WAIT_MS),
    ])
    await fetch(`${simulator.url}/pause`, { method: 'POST' })
    const after = await ledger(venue)
    const expected = [...heard.keys()].map((asset) => toldOf(after, asset))
    await vi.waitFor(() => expect(compared([...heard.values()])).toEqual(compared(expected)), WAIT_MS)
    stop.abort()
    await exchange.close()
    // Closing ends the loops that still wait, with an error.
    await failed.catch(() => undefined)
  },
)

interface Row {
  readonly asset: string
  trades: number
  buy: bigint
  sell: bigint
}

function volumesOf(rows: readonly Row[]): readonly Row[] {
  return rows.map((row) => ({ ...row, trades: 0 }))
}

/** What the ledger does not count: Coinbase's first, repeated match, and Bybit's block trades. */
function counts(trade: CcxtTrade): boolean {
  const info = trade.info as Record<string, unknown>
  return info['type'] !== 'last_match' && info['BT'] !== true
}

function add(total: Row | undefined, trade: CcxtTrade, contractSize: number, factor: bigint): void {
  if (total === undefined) return
  const merged = (trade.info as Record<string, unknown>)['count']
  total.trades += merged === undefined ? 1 : Number(merged)
  const volume = (units(String(trade.amount)) * units(String(contractSize)) * factor) / 10n ** BigInt(DECIMALS)
  total[trade.side === 'buy' ? 'buy' : 'sell'] += volume
}

/** What the ledger says of an asset. */
function toldOf(rows: readonly LedgerRow[], asset: string): Row {
  const row = rows.find(({ symbol }) => symbol === asset)
  return { asset, trades: row?.trades ?? 0, buy: units(row?.buy_volume ?? '0'), sell: units(row?.sell_volume ?? '0') }
}

function units(text: string): bigint {
  const plain = text.includes('e') ? Number(text).toFixed(DECIMALS) : text
  const [whole = '0', fraction = ''] = plain.split('.')
  return BigInt(whole + fraction.padEnd(DECIMALS, '0').slice(0, DECIMALS))
}

async function ledger(venue: string): Promise<LedgerRow[]> {
  const answer = await fetch(`${simulator.url}/ledger?venue=${venue}`)
  return (await answer.json()) as LedgerRow[]
}

/** The same tree of URLs with the venue's hosts replaced; nothing else of the client changes. */
function redirected(value: unknown, hosts: readonly RegExp[], base: string): unknown {
  if (typeof value === 'string') {
    const host = hosts.find((pattern) => pattern.test(value))
    return host === undefined ? value : value.replace(host, value.startsWith('wss') ? base.replace('http', 'ws') : base)
  }
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([name, inner]) => [name, redirected(inner, hosts, base)] as const)
  return Array.isArray(value) ? entries.map(([, inner]) => inner) : Object.fromEntries(entries)
}

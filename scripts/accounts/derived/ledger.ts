/** The simulator's `GET /ledger/market`: dollars and base units, fractions, times in microseconds. */
interface Named {
  readonly venue: string
  /** The venue's own symbol. */
  readonly symbol: string
  readonly asset: string
}

export interface Spot extends Named {
  readonly quote: 'USD' | 'USDT' | 'USDC'
  readonly bid: number
  readonly ask: number
  readonly last: number
  readonly open24h: number
  readonly volume24h: number
  readonly quoteVolume24h: number
}

export interface Perp extends Named {
  readonly intervalHours: number
  readonly cap: number
  readonly floor: number
  readonly mark: number
  readonly index: number
  readonly rate: number
  readonly nextSettlement: number
  readonly openInterest: number
  readonly time: number
}

/** A closed minute's premium index, by the minute's start. */
interface Premium extends Named {
  readonly time: number
  readonly close: number
}

interface Settlement extends Named {
  readonly time: number
  readonly rate: number
}

/** Long over short of top traders in the five minutes from `time`. */
interface Ratio extends Named {
  readonly time: number
  readonly positions: number
}

export interface Liquidation extends Named {
  readonly time: number
  readonly side: 'long' | 'short'
  readonly size: number
  readonly bankruptcyPrice: number
  readonly fillPrice: number
}

interface Token {
  readonly id: string
  readonly symbol: string
  readonly price: number
  readonly rank: number
  readonly change7d: number
  readonly change30d: number
  readonly circulating: number
  readonly total: number | null
  readonly ath: number
  readonly athTime: number
}

/** Everything that the answers are held against, read at one moment of a market that stands. */
export interface LedgerState {
  readonly spot: readonly Spot[]
  readonly perp: readonly Perp[]
  readonly premiums: readonly Premium[]
  readonly settlements: readonly Settlement[]
  readonly ratios: readonly Ratio[]
  readonly liquidations: readonly Liquidation[]
  readonly tokens: readonly Token[]
}

const ANSWER_MS = 60_000
const HOUR = 3_600_000_000
const DAY = 24 * HOUR
/** Settlements that the ledger is asked for. */
const SETTLED_DAYS = 4

/** Reads all of it; premiums, settlements and ratios of the named assets alone. */
export async function readLedger(url: string, assets: readonly string[]): Promise<LedgerState> {
  const now = Date.now() * 1000
  const ask = async <Row>(kind: string, more: { symbol?: string; from?: number } = {}): Promise<Row[]> => {
    const { symbol = '', from } = more
    const query = new URLSearchParams({ kind, ...(symbol && { symbol }), ...(from && { from: `${from}` }) })
    const answer = await fetch(`${url}/ledger/market?${query.toString()}`, { signal: AbortSignal.timeout(ANSWER_MS) })
    if (!answer.ok) throw new Error(`the simulator answered ${answer.status} to ${kind}`)
    return (await answer.json()) as Row[]
  }
  const premiums: Premium[] = []
  const settlements: Settlement[] = []
  const ratios: Ratio[] = []
  for (const symbol of assets) {
    premiums.push(...(await ask<Premium>('premiums', { symbol, from: now - 17 * HOUR })))
    settlements.push(...(await ask<Settlement>('settlements', { symbol, from: now - SETTLED_DAYS * DAY })))
    ratios.push(...(await ask<Ratio>('ratios', { symbol, from: now - HOUR })))
  }
  return {
    spot: await ask('spot'),
    perp: await ask('perp'),
    premiums,
    settlements,
    ratios,
    liquidations: await ask('liquidations', { from: now - 25 * HOUR }),
    tokens: await ask('tokens'),
  }
}

/** The one row of an asset on a venue. */
export function rowOf<Row extends Named>(rows: readonly Row[], asset: string, venue: string): Row | undefined {
  return rows.find((row) => row.asset === asset && row.venue === venue)
}

/** The middle of the best prices. */
export function middleOf({ bid, ask }: Spot): number {
  return (bid + ask) / 2
}

/** What a unit of a quote is worth in dollars: the median of the venues that trade it against dollars. */
export function dollarsOf(ledger: LedgerState, quote: Spot['quote']): number {
  if (quote === 'USD') return 1
  return medianOf(ledger.spot.filter((row) => row.asset === quote && row.quote === 'USD').map(middleOf))
}

export function medianOf(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const [low = Number.NaN, high = Number.NaN] = [
    sorted[Math.floor((sorted.length - 1) / 2)],
    sorted[Math.floor(sorted.length / 2)],
  ]
  return (low + high) / 2
}

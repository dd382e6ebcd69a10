/**
 * Everybody whom a feed may talk to: a line each, from which settings, polls, prices, funding, routes and documents follow.
 * A line's place is the venue's number when polls and repairs are shared out, so a new venue goes to the end.
 * - `hosts`: its own addresses, `archive` that of its files of past trades; the setting `<VENUE>_<HOST>_URL` replaces each
 *   (`OKX_WS_URL`, `BINANCE_SPOT_REST_URL`);
 * - `trades`: whose market's trades it contributes; `ids` go up by one per instrument (`contiguous`), or have no order
 *   (`none`); `further`: its trades count only where the setting `CVD_VENUES` names it. A second market of a venue has a
 *   line of its own;
 * - `spot`: its rank in the chain of spot prices, in which one stands in for another; and which of its markets stands for
 *   it, the first of `quotes` that it has;
 * - `funding`: its rank among the perpetuals, in which one stands in for another; `interest`: its rate damps the interest
 *   of eight hours and is divided (`of_8h`), or of its own interval and is not (`of_interval`);
 * - `settled`: its settled rates are read back and nothing else of its funding is, where its perpetuals are listed here;
 * - `ratio`: its rank among those that publish how their top traders are positioned. Bybit's figure is of all holders and
 *   would be a false label;
 * - `liquidations`: its rank among those that publish them, the complete one first.
 */
const table = {
  binance: {
    title: 'Binance',
    hosts: {
      ws: 'wss://fstream.binance.com',
      rest: 'https://fapi.binance.com',
      // "If you only need market data": no account, and not refused where the main hosts are.
      spotWs: 'wss://data-stream.binance.vision',
      spotRest: 'https://data-api.binance.vision',
      archive: 'https://data.binance.vision',
    },
    trades: { market: 'perp', ids: 'contiguous' },
    spot: { rank: 1, quotes: ['USDT', 'USDC', 'USD'] },
    funding: { rank: 1, interest: 'of_8h' },
    ratio: { rank: 1 },
    liquidations: { rank: 3 },
  },
  bybit: {
    title: 'Bybit',
    hosts: {
      ws: 'wss://stream.bybit.com',
      rest: 'https://api.bybit.com',
      archive: 'https://public.bybit.com',
    },
    trades: { market: 'perp', ids: 'none' },
    spot: { rank: 4, quotes: ['USDT', 'USDC', 'USD'] },
    funding: { rank: 2, interest: 'of_interval' },
    liquidations: { rank: 1 },
  },
  okx: {
    title: 'OKX',
    hosts: {
      ws: 'wss://ws.okx.com:8443',
      rest: 'https://openapi.okx.com',
      archive: 'https://static.okx.com',
    },
    trades: { market: 'perp', ids: 'contiguous' },
    spot: { rank: 3, quotes: ['USDT', 'USDC', 'USD'] },
    funding: { rank: 3, interest: 'of_interval' },
    ratio: { rank: 2 },
    liquidations: { rank: 2 },
  },
  coinbase: {
    title: 'Coinbase',
    hosts: { ws: 'wss://ws-feed.exchange.coinbase.com', rest: 'https://api.exchange.coinbase.com' },
    trades: { market: 'spot', ids: 'contiguous' },
    spot: { rank: 2, quotes: ['USD', 'USDT', 'USDC'] },
  },
  kraken: {
    title: 'Kraken',
    hosts: { ws: 'wss://ws.kraken.com', rest: 'https://api.kraken.com' },
    trades: { market: 'spot', ids: 'contiguous', further: true },
    spot: { rank: 5, quotes: ['USD', 'USDT', 'USDC'] },
  },
  gate: {
    title: 'Gate',
    hosts: { ws: 'wss://fx-ws.gateio.ws', rest: 'https://api.gateio.ws' },
    trades: { market: 'perp', ids: 'none', further: true },
    settled: true,
    ratio: { rank: 3 },
  },
  /** The token registry. */
  coingecko: { title: 'CoinGecko', hosts: { rest: 'https://api.coingecko.com' } },
  binance_spot: {
    title: 'Binance spot',
    // Binance's own spot addresses; one setting replaces them for both.
    hosts: {
      ws: 'wss://data-stream.binance.vision',
      rest: 'https://data-api.binance.vision',
      archive: 'https://data.binance.vision',
    },
    trades: { market: 'spot', ids: 'contiguous', further: true },
  },
  bitget: {
    title: 'Bitget',
    hosts: { ws: 'wss://ws.bitget.com', rest: 'https://api.bitget.com' },
    trades: { market: 'perp', ids: 'none', further: true },
    settled: true,
  },
  hyperliquid: {
    title: 'Hyperliquid',
    hosts: { ws: 'wss://api.hyperliquid.xyz', rest: 'https://api.hyperliquid.xyz' },
    trades: { market: 'perp', ids: 'none', further: true },
    settled: true,
  },
} as const satisfies Readonly<Record<string, VenueLine>>

interface VenueLine {
  readonly title: string
  readonly hosts: Readonly<Partial<Record<HostName, string>>>
  readonly trades?: { readonly market: Market; readonly ids: 'contiguous' | 'none'; readonly further?: true }
  readonly spot?: { readonly rank: number; readonly quotes: readonly string[] }
  readonly funding?: { readonly rank: number; readonly interest: 'of_8h' | 'of_interval' }
  readonly settled?: true
  readonly ratio?: { readonly rank: number }
  readonly liquidations?: { readonly rank: number }
}

type Role = 'trades' | 'spot' | 'funding' | 'settled' | 'ratio' | 'liquidations'
type With<Key extends Role> = {
  [Name in VenueName]: (typeof table)[Name] extends Readonly<Record<Key, unknown>> ? Name : never
}[VenueName]

/** Names as they appear in answers, topics and settings. */
export type VenueName = keyof typeof table
export type TradeVenueName = With<'trades'>
export type PriceVenue = With<'spot'>
export type FundingVenue = With<'funding'>
export type RatioVenue = With<'ratio'>
export type Market = 'perp' | 'spot'
export type HostName = 'ws' | 'rest' | 'spotWs' | 'spotRest' | 'archive'

const lines: Readonly<Record<VenueName, VenueLine>> = table

/** At least one, as the types of the lists say. */
type List<Item> = readonly [Item, ...Item[]]

export const venueNames = Object.keys(table) as readonly string[] as List<VenueName>

/** A venue that can contribute trades. */
export interface TradeVenueRow {
  readonly venue: TradeVenueName
  readonly market: Market
  readonly ids: 'contiguous' | 'none'
}

/** Everybody who can contribute trades, whether or not they are asked for. */
export const tradeVenues = tradeRows(() => true)
/** Those whose trades count where nothing else is said. */
export const usualTradeVenues = tradeRows(({ further }) => further !== true)

function tradeRows(wanted: (trades: NonNullable<VenueLine['trades']>) => boolean): List<TradeVenueRow> {
  const rows = venueNames.flatMap((venue) => {
    const { trades } = lines[venue]
    return trades === undefined || !wanted(trades) ? [] : [{ venue, market: trades.market, ids: trades.ids }]
  })
  return rows as readonly unknown[] as List<TradeVenueRow>
}

/** In the order in which one stands in for another. */
export const priceVenues = inOrder('spot')
export const fundingVenues = inOrder('funding')
export const ratioVenues = inOrder('ratio')
/** The complete one first. */
export const liquidationVenues = inOrder('liquidations')

/** Whose settled rates are known: those of the perpetuals, then those that are only read back. */
export const settlementVenues: List<FundingVenue | With<'settled'>> = [
  ...fundingVenues,
  ...venueNames.filter((name): name is With<'settled'> => lines[name].settled === true),
]

function inOrder<Key extends Exclude<Role, 'trades' | 'settled'>>(role: Key): List<With<Key>> {
  const rankOf = (name: VenueName): number => lines[name][role]?.rank ?? 0
  const names = venueNames.filter((name) => lines[name][role] !== undefined).toSorted((a, b) => rankOf(a) - rankOf(b))
  return names as readonly string[] as List<With<Key>>
}

/** Which of its markets stands for it: the first of these quotes that it has; others stand behind. */
export function quotesOf(venue: PriceVenue): readonly string[] {
  return table[venue].spot.quotes
}

/** How the venue's interest enters its funding rate. */
export function interestRuleOf(venue: FundingVenue): 'of_8h' | 'of_interval' {
  return table[venue].funding.interest
}

/** A venue's own addresses. */
export function hostsOf(venue: VenueName): VenueLine['hosts'] {
  return lines[venue].hosts
}

const suffixes = {
  ws: 'WS',
  rest: 'REST',
  spotWs: 'SPOT_WS',
  spotRest: 'SPOT_REST',
  archive: 'ARCHIVE',
} as const satisfies Record<HostName, string>

/** The settings that replace venues' addresses. */
export type AddressSetting = {
  [Name in VenueName]: {
    [Host in keyof (typeof table)[Name]['hosts'] & HostName]: `${Uppercase<Name>}_${(typeof suffixes)[Host]}_URL`
  }[keyof (typeof table)[Name]['hosts'] & HostName]
}[VenueName]

/** The setting that replaces an address, which the venue has. */
export function addressSettingOf(venue: VenueName, host: HostName): AddressSetting {
  return `${venue.toUpperCase()}_${suffixes[host]}_URL` as AddressSetting
}

/** Each address of each venue. */
export const addresses = venueNames.flatMap((venue) =>
  (Object.keys(suffixes) as HostName[]).flatMap((host) => {
    const own = lines[venue].hosts[host]
    return own === undefined
      ? []
      : [{ venue, host, title: lines[venue].title, own, setting: addressSettingOf(venue, host) }]
  }),
)

/** `venue:market:symbol`, the identity of a market. */
export function instrumentId(venue: string, market: Market, symbol: string): string {
  return `${venue}:${market}:${symbol}`
}

/** The three parts of an instrument id. A symbol may hold colons, a venue and a market never do. */
export function partsOf(instrument: string): { venue: string; market: string; symbol: string } {
  const first = instrument.indexOf(':')
  const second = instrument.indexOf(':', first + 1)
  return {
    venue: instrument.slice(0, first),
    market: instrument.slice(first + 1, second),
    symbol: instrument.slice(second + 1),
  }
}

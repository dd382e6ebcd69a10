import { isRecord } from '../../processors/feeds/venues/fields.ts'

/** The symbol that a REST answer is about: what its address asked for, else what its first row says. */
export function symbolAsked(url: string | undefined, body: unknown): string | undefined {
  return (url === undefined ? undefined : inUrl(url)) ?? inBody(body)
}

/** `?symbol=BTCUSDT`, `?instId=BTC-USDT-SWAP`, `/products/BTC-USD/trades` */
function inUrl(url: string): string | undefined {
  if (!URL.canParse(url, 'http://venue')) return undefined
  const { searchParams, pathname } = new URL(url, 'http://venue')
  const product = /\/products\/([^/]+)\/trades$/.exec(pathname)?.[1]
  return searchParams.get('symbol') ?? searchParams.get('instId') ?? (product && decodeURIComponent(product))
}

function inBody(body: unknown): string | undefined {
  const row = firstRow(body)
  const symbol = row?.['symbol'] ?? row?.['instId']
  return typeof symbol === 'string' ? symbol : undefined
}

function firstRow(body: unknown): Record<string, unknown> | undefined {
  if (!isRecord(body)) return undefined
  const { data, result } = body
  const rows: unknown = isRecord(result) ? result['list'] : data
  const row: unknown = Array.isArray(rows) ? rows[0] : undefined
  return isRecord(row) ? row : undefined
}

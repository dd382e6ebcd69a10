import { readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { createClient } from '@clickhouse/client'
import { drawSvg } from './chart.ts'

/**
 * Draws price and CVD of an asset as SVG: how an analyst's own program reads ClickHouse. It needs nothing of this checkout
 * but a worked query, which is plain SQL with parameters.
 */
const help = `node scripts/examples/cvd-chart.ts [--asset btc] [--venue binance] [--seconds 60] [--hours 1 | --start T --end T]
  [--out cvd.svg] [--url http://127.0.0.1:8123] [--user analyst] [--password ...] [--database market]
Draws the price of a venue and the CVD over all venues, counted from the start. Times are UTC, ISO 8601.`

const { values: given } = parseArgs({
  options: {
    asset: { type: 'string', default: 'btc' },
    venue: { type: 'string', default: 'binance' },
    seconds: { type: 'string', default: '60' },
    hours: { type: 'string', default: '1' },
    start: { type: 'string' },
    end: { type: 'string', default: new Date().toISOString() },
    out: { type: 'string', default: 'cvd.svg' },
    url: { type: 'string', default: 'http://127.0.0.1:8123' },
    user: { type: 'string', default: 'analyst' },
    password: { type: 'string', default: '' },
    database: { type: 'string', default: 'market' },
    help: { type: 'boolean', default: false },
  },
})
if (given.help) {
  console.log(help)
  process.exit(0)
}

interface Row {
  readonly time: string
  readonly close: number
  readonly delta: number
  readonly cvd: number
}

const DEADLINE_MS = 30_000
const query = readFileSync(new URL('../../infra/clickhouse/queries/02_cvd_against_price.sql', import.meta.url), 'utf8')
const end = new Date(given.end)
const start =
  given.start === undefined ? new Date(end.getTime() - Number(given.hours) * 3_600_000) : new Date(given.start)
const plain = (time: Date): string => time.toISOString().replace('T', ' ').replace('Z', '')

const { url, user: username, password, database, asset, venue, seconds } = given
const client = createClient({ url, username, password, database, request_timeout: DEADLINE_MS })
const result = await client.query({
  query,
  query_params: { asset, venue, seconds, start: plain(start), end: plain(end) },
  format: 'JSONEachRow',
  clickhouse_settings: { date_time_output_format: 'iso' },
})
const rows = await result.json<Row>()
await client.close()

const svg = drawSvg({
  title: `${asset.toUpperCase()}: price at ${venue}, CVD over all venues (base units)`,
  times: rows.map(({ time }) => time),
  lines: [
    { name: 'price', values: rows.map(({ close }) => close), color: '#1f77b4', side: 'left' },
    { name: 'CVD', values: rows.map(({ cvd }) => cvd), color: '#d62728', side: 'right' },
  ],
})
writeFileSync(given.out, svg)
console.log(`${rows.length} intervals drawn into ${given.out}`)

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { quantile } from '../../api/testing/http-load.ts'
import type { Child } from '../../infra/local/child.ts'
import type { Bench, Figure } from '../figure.ts'
import { fillRanges, symbols } from './ranges/history.ts'
import { prepareApi, program, startServer } from './system/api.ts'

const PARTITIONS = 4
const QUESTIONS = 60
/** What a first question may take, milliseconds. */
const LIMIT_MS = 50
/** Of one API, so that its code is compiled, as that of a service is. */
const WARM_UP = 15
/** A question that nobody asked before: nothing of its answer is kept. */
type Question = (n: number) => { readonly path: string; readonly body?: object }

const symbolOf = (n: number): string => symbols[n % symbols.length] ?? ''
/** `rows` and fewer, so that no two questions are equal. */
const fewer = (rows: number, n: number): number => rows - Math.floor(n / symbols.length)

const questions: Readonly<Record<string, Question>> = {
  'ohlcv, 1 h by 1m, one venue': (n) => ({ path: `/ohlcv/${symbolOf(n)}?interval=1m&limit=${fewer(60, n)}` }),
  'ohlcv, 24 h by 5m, all venues': (n) => ({
    path: `/ohlcv/${symbolOf(n)}?interval=5m&exchange=all&limit=${fewer(288, n)}`,
  }),
  'ohlcv, 7 d by 15m, all venues': (n) => ({
    path: `/ohlcv/${symbolOf(n)}?interval=15m&exchange=all&limit=${fewer(672, n)}`,
  }),
  'ohlcv, 7 d by 1h, all venues': (n) => ({
    path: `/ohlcv/${symbolOf(n)}?interval=1h&exchange=all&limit=${fewer(168, n)}`,
  }),
  'ohlcv, 90 d by 4h, all venues': (n) => ({
    path: `/ohlcv/${symbolOf(n)}?interval=4h&exchange=all&limit=${fewer(540, n)}`,
  }),
  // What the console's chart of a new installation asks for, page by page.
  'ohlcv, a page of 1,000 hours, all venues': (n) => ({
    path: `/ohlcv/${symbolOf(n)}?interval=1h&exchange=all&limit=${fewer(1_000, n)}`,
  }),
  'cvd/history, 1 h by 1m': (n) => ({ path: `/cvd/history/${symbolOf(n)}?interval=1m&limit=${fewer(60, n)}` }),
  'cvd/history, 24 h by 5m': (n) => ({ path: `/cvd/history/${symbolOf(n)}?interval=5m&limit=${fewer(288, n)}` }),
  'cvd/history, 7 d by 1h': (n) => ({ path: `/cvd/history/${symbolOf(n)}?interval=1h&limit=${fewer(168, n)}` }),
  'cvd/history, 90 d by 4h': (n) => ({ path: `/cvd/history/${symbolOf(n)}?interval=4h&limit=${fewer(540, n)}` }),
  // The first symbol has prices of a week, the others of 96 minutes.
  'alerts/backtest, 96 min of prices': (n) => whatIf(symbols[1 + (n % (symbols.length - 1))] ?? '', n),
  'alerts/backtest, 7 d of prices': (n) => whatIf(symbolOf(0), n),
}

/** Targets over all of the range in which prices move, and a little beyond. */
function whatIf(symbol: string, n: number): { path: string; body: object } {
  const body = {
    symbol,
    days: 7,
    condition: n % 2 === 0 ? 'above' : 'crosses_below',
    target_price: 97.9 + (n % 41) * 0.1 + n / 1e4,
  }
  return { path: '/alerts/backtest', body }
}

/** First questions about ranges: how long each takes against its limit, and what ClickHouse reads for it. */
const bench: Bench = async (getParts) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'bench-ranges-'))
  let api: Child | undefined
  try {
    const parts = await getParts()
    const place = await prepareApi(parts, { name: 'ranges', partitions: PARTITIONS, symbols })
    await fillRanges(parts, place, PARTITIONS)
    api = await startServer('api', program('api/main.ts'), folder, { ...place.env, TRUST_PROXY: '1' })
    const { url } = api
    const figures: Figure[] = []
    for (const [name, question] of Object.entries(questions)) figures.push(...(await measure(url, name, question)))
    return figures
  } finally {
    await api?.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

export default bench

async function measure(url: string, name: string, question: Question): Promise<Figure[]> {
  const count = QUESTIONS
  for (let n = count; n < count + WARM_UP; n++) await ask(url, question(n), n)
  const before = await readSoFar(url)
  const tookMs: number[] = []
  for (let n = 0; n < count; n++) {
    const sent = performance.now()
    await ask(url, question(n), n)
    tookMs.push(performance.now() - sent)
  }
  const after = await readSoFar(url)
  const about = { bench: 'ranges', n: count }
  const times = [0.5, 0.99].map((p): Figure => {
    const value = quantile(tookMs, p)
    return { ...about, metric: `${name}, p${p * 100}`, value, unit: 'ms', baseline: LIMIT_MS, ratio: value / LIMIT_MS }
  })
  const each = (what: keyof Read): number => (after[what] - before[what]) / count
  return [
    ...times,
    { ...about, metric: `${name}, queries`, value: each('queries'), unit: 'a question' },
    { ...about, metric: `${name}, rows read`, value: each('rows'), unit: 'a question' },
    { ...about, metric: `${name}, bytes read`, value: each('bytes'), unit: 'a question' },
  ]
}

/** Asks as a caller of its own, so that nobody is limited. */
async function ask(url: string, { path: target, body }: ReturnType<Question>, n: number): Promise<void> {
  const from = { 'x-forwarded-for': `10.0.${Math.floor(n / 200)}.${n % 200}` }
  const sent = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
  const headers = { ...from, 'content-type': 'application/json' }
  const response = await fetch(url + target, { ...sent, headers })
  const text = await response.text()
  const answer = JSON.parse(text) as { cached?: unknown }
  if (response.status !== 200 || answer.cached !== false)
    throw new Error(`${target}: ${response.status} ${text.slice(0, 300)}`)
}

/** What the API's queries have read since it began. */
interface Read {
  readonly queries: number
  readonly rows: number
  readonly bytes: number
}

async function readSoFar(url: string): Promise<Read> {
  const text = await (await fetch(`${url}/metrics`)).text()
  const value = (name: string): number => Number(new RegExp(`^${name}\\{service="api"\\} (\\S+)$`, 'm').exec(text)?.[1])
  return {
    queries: value('mda_api_query_seconds_count'),
    rows: value('mda_api_query_rows_total'),
    bytes: value('mda_api_query_bytes_total'),
  }
}

import { load } from '../../../api/testing/http-load.ts'
import { knownAssets } from '../../../schemas/catalogue.ts'
import { answered, mixOf } from '../system/api.ts'

const CONNECTIONS = 16
const CREATING = 32
/** So far above the price that none rings while it is measured. */
const FARTHEST = 0.5
const NEAREST = 0.2
const ANSWER_MS = 60_000

/** What is streamed where nobody says what. */
export const streamedSymbols: readonly string[] = knownAssets.flatMap(({ streamed, symbols }) =>
  streamed === true ? symbols.slice(0, 1) : [],
)
/** Every data route, about three symbols. */
const paths = streamedSymbols.slice(0, 3).flatMap((symbol) => mixOf(symbol))

/** Asks each route until it has an answer: those about a range say nothing before there is any. */
export async function warmRoutes(api: string): Promise<void> {
  for (const target of paths) await answered(api + target)
}

/** Asks all routes in turn, so many a second. Rejects at the first answer that is none. */
export async function ask(api: string, perSecond: number, seconds: number): Promise<void> {
  if (perSecond === 0) return
  const path = (n: number): string => paths[n % paths.length] ?? '/'
  await load(api, { connections: CONNECTIONS, count: perSecond * seconds, perSecond, path })
}

/** Creates so many alerts on all symbols that are streamed from the start. */
export async function createAlerts(api: string, count: number): Promise<void> {
  const prices = new Map<string, number>()
  for (const symbol of streamedSymbols)
    prices.set(symbol, (JSON.parse(await answered(`${api}/price/${symbol}`)) as { price: number }).price)
  let next = 0
  const create = async (): Promise<void> => {
    while (next < count) {
      const n = next++
      const symbol = streamedSymbols[n % streamedSymbols.length] ?? ''
      const factor = 1 + NEAREST + (FARTHEST - NEAREST) * (n / count)
      await post(api, symbol, Number(((prices.get(symbol) ?? 0) * factor).toPrecision(8)), n)
    }
  }
  await Promise.all(Array.from({ length: CREATING }, create))
}

async function post(api: string, symbol: string, price: number, n: number): Promise<void> {
  const body = { symbol, condition: 'above', target_price: price, webhook_url: `https://localhost:4443/${n}` }
  const answer = await fetch(`${api}/price-alert`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...body, expires_in_hours: 1 }),
    signal: AbortSignal.timeout(ANSWER_MS),
  })
  const text = await answer.text()
  if (answer.status !== 201) throw new Error(`an alert was not created: ${answer.status} ${text}`)
}

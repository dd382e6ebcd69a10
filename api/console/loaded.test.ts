import { afterEach, describe, expect, it, vi } from 'vitest'
import { Loaded } from './web/chart-series.ts'

interface Row {
  readonly time: string
  readonly close: number
}

const row = (hour: number, close = hour): Row => ({
  time: `2026-01-01T0${hour}:00:00.000Z`,
  close,
})

it('puts pages together, oldest first, the newest word on each row', () => {
  const loaded = new Loaded<Row>()
  expect(loaded.next).toBeUndefined()
  loaded.takeNewest([row(4), row(5)], 'four')
  loaded.takeOlder([row(2), row(3)], 'two')
  loaded.takeNewest([row(5, 9), row(6)], 'five')
  expect(loaded.next).toBe('two')
  expect(loaded.rows).toEqual([row(2), row(3), row(4), row(5, 9), row(6)])
  loaded.takeNewest([], null)
  loaded.takeOlder([row(1)], null)
  expect(loaded.next).toBeNull()
  expect(loaded.rows.length).toBe(6)
})

it('begins anew where the newest page does not reach what is known, in either order of its rows', () => {
  const loaded = new Loaded<Row>()
  loaded.takeNewest([row(1), row(2)], null)
  loaded.takeNewest([row(7), row(6)], 'six')
  expect([loaded.next, loaded.rows]).toEqual(['six', [row(6), row(7)]])
})

describe('a history that was hidden for longer than its newest page', () => {
  const MINUTE = 60_000
  interface History {
    readonly rows: readonly { readonly time: string }[]
    readNewest(): Promise<unknown>
    readOlder(): Promise<boolean>
  }
  let now = 0
  let older: Promise<void> | undefined

  /** A candle of each minute, as a route pages them. */
  async function answer(path: string): Promise<object> {
    const { searchParams } = new URL(path, 'http://x')
    const end = searchParams.get('end')
    if (end !== null) await older
    const count = Number(searchParams.get('limit'))
    const first = (end === null ? now : Date.parse(end)) - count * MINUTE
    const candles = Array.from({ length: count }, (_, at) => ({ time: new Date(first + at * MINUTE).toISOString() }))
    const body = { as_of: new Date(now).toISOString(), stale: false, next: candles[0]?.time, candles }
    return { status: 200, json: async () => body }
  }

  afterEach(() => {
    vi.unstubAllGlobals()
    older = undefined
  })

  const started = async (): Promise<History> => {
    vi.stubGlobal('fetch', answer)
    now = Date.parse('2026-01-01T00:00:00Z')
    // The page's own module; its types are a browser's.
    const file = new URL('web/chart-history.ts', import.meta.url).href
    const { PagedHistory } = (await import(file)) as { PagedHistory: new (path: string, key: string) => History }
    const history = new PagedHistory('/api/ohlcv/BTC?interval=1m', 'candles')
    await history.readNewest()
    await history.readOlder()
    return history
  }
  const holes = ({ rows }: History): number => {
    const times = rows.map(({ time }) => Date.parse(time))
    return times.filter((time, at) => at > 0 && time - (times[at - 1] ?? 0) !== MINUTE).length
  }

  it('has no hole, and is filled by its older pages', async () => {
    const history = await started()
    now += 8 * 60 * MINUTE
    await history.readNewest()
    expect([holes(history), history.rows.length]).toEqual([0, 200])
    await history.readOlder()
    expect([holes(history), history.rows.length]).toEqual([0, 1_200])
  })

  it('has none by an older page that was asked for before', async () => {
    const history = await started()
    const { promise, resolve } = Promise.withResolvers<void>()
    older = promise
    const late = history.readOlder()
    now += 8 * 60 * MINUTE
    await history.readNewest()
    resolve()
    expect(await late).toBe(true)
    expect([holes(history), history.rows.length]).toEqual([0, 200])
  })
})

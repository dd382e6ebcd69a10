import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import * as format from '../web/format.ts'
import { agree, patience, textOf, textsOf } from './browser.ts'

/** What the API that sells answers, by the fields that a test looks at. */
export type Json = Readonly<Record<string, unknown>>
type Get = (path: string) => Promise<Json>

/** Whether the newest candle on the screen is the API's. */
export async function showsCandle(page: Page, get: Get): Promise<boolean> {
  const answer = await get('/ohlcv/BTC?interval=1m&exchange=all&limit=1')
  const [candle] = answer['candles'] as readonly Readonly<Record<string, number>>[]
  const [, ...shown] = await textsOf(page, '#candles tbody tr:nth-child(1) td')
  const prices = ['open', 'high', 'low', 'close'].map((name) => format.price(candle?.[name]))
  return shown.slice(0, 5).join() === [...prices, format.compact(candle?.['volume'])].join()
}

interface Point {
  readonly exchanges: Readonly<Record<string, { readonly delta: number }>>
}

/** The legend is the sum of all buckets that are shown, the first one too: the same for each width of a bucket. */
export async function expectLegend(page: Page, get: Get, venue: string): Promise<void> {
  for (const interval of ['15m', '1m']) {
    await page.getByRole('button', { name: interval, exact: true }).click()
    await agree(
      async () => (await textsOf(page, '#legend li')).join(', '),
      async () => {
        const { points } = await get(`/cvd/history/BTC?interval=${interval}`)
        const deltas = (points as readonly Point[]).map(({ exchanges }) => exchanges[venue]?.delta ?? NaN)
        return `${venue} ${format.signed(deltas.reduce((sum, delta) => sum + delta, 0))}`
      },
    )
  }
}

/** Figures that cannot be refreshed stay and say how old they are; the bar says so too, until they are new again. */
export async function expectAgeWhileFailing(page: Page): Promise<void> {
  const route = '**/api/futures/basis/*'
  const state = (): Promise<string | null> => page.locator('#stream').getAttribute('data-state')
  await expect.poll(state, patience).toBe('live')
  await page.route(route, (one) => one.fulfill({ status: 503, json: { error: 'overloaded', message: 'Too busy.' } }))
  const note = '#basis-panel > .old'
  await expect
    .poll(() => textOf(page, note), patience)
    .toMatch(/^As of [\d:]{8} UTC, \d+ s ago: not refreshed\. Too busy\.$/)
  expect(await textOf(page, '#spot')).toContain('Spot')
  expect(await state()).toBe('old')
  expect(await textOf(page, '#stream')).toMatch(/^Live, but \d+ panels? (?:is|are) old$/)
  await page.unroute(route)
  await expect.poll(() => page.locator(note).count(), patience).toBe(0)
  await expect.poll(state, patience).toBe('live')
}

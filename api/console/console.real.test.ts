import { readFileSync } from 'node:fs'
import { randomUUID } from 'node:crypto'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { loadCodec } from '../../infra/kafka/codec.ts'
import { connectLog } from '../../infra/kafka/kafkajs.ts'
import { urlOf } from '../../infra/local/run-file.ts'
import type { CreditEntry } from '../../schemas/records.ts'
import { startReceiver } from '../../scripts/chaos/alerts/receiver.ts'
import { startOwnSystem, type OwnSystem } from '../../scripts/own-system.ts'
import {
  agree,
  chromiumPath,
  launch,
  openPage,
  patience,
  pressUntil,
  seriousFindings,
  textOf,
  textsOf,
  widths,
  type Width,
} from './testing/browser.ts'
import { startCuttingProxy } from './testing/cutting-proxy.ts'
import { expectAgeWhileFailing, expectLegend, showsCandle, type Json } from './testing/looks.ts'
import * as format from './web/format.ts'

const START_MS = 300_000
const TEST_MS = 240_000
const venues = ['binance', 'bybit', 'okx', 'coinbase']
const periods = ['1h', '4h', '24h', '7d']
if (chromiumPath === undefined) console.log('skipped: no Chromium is installed (apt-get install chromium, or CHROMIUM)')

describe.skipIf(chromiumPath === undefined)('the console in a browser', () => {
  let system: OwnSystem
  let started: OwnSystem | undefined
  let browser: Browser | undefined
  let console_: string
  /** What went wrong in the pages of a test. */
  let wrong: string[] = []

  beforeAll(async () => {
    // A past that the charts show and that is soon there.
    started = await startOwnSystem(['--seed', '11', '--rate', '100'], { BACKFILL_DAYS: '7' })
    system = started
    console_ = urlOf(system.run(), 'console')
    browser = await launch(chromiumPath ?? '')
    await vi.waitUntil(allLive, { timeout: START_MS, interval: 500 })
  }, 2 * START_MS)
  afterAll(async () => {
    await browser?.close()
    await started?.dispose()
  }, START_MS)

  async function get(path: string): Promise<Json> {
    const answer = await fetch(urlOf(system.run(), 'api') + path, { signal: AbortSignal.timeout(20_000) })
    return (await answer.json()) as Json
  }

  async function allLive(): Promise<boolean> {
    const [cvd, heat, ratio] = await Promise.all([
      get('/cvd/BTC'),
      get('/liquidation/heatmap/BTC'),
      get('/futures/long-short/BTC'),
    ]).catch((): Json[] => [])
    const exchanges = Object.values((cvd?.['exchanges'] ?? {}) as Readonly<Record<string, { status: string }>>)
    const isRead = Array.isArray(heat?.['levels']) && typeof ratio?.['aggregate'] === 'object'
    return isRead && exchanges.length === venues.length && exchanges.every(({ status }) => status === 'live')
  }

  async function market(order: 'pause' | 'resume'): Promise<void> {
    const answer = await fetch(`${urlOf(system.run(), 'simulator')}/${order}`, { method: 'POST' })
    expect(answer.ok).toBe(true)
  }

  function open(path: string): Promise<Page> {
    if (browser === undefined) throw new Error('there is no browser')
    wrong = []
    return openPage(browser, console_ + path, wrong)
  }

  /** Nothing was written to the browser's console, no request failed. */
  async function leave(page: Page): Promise<void> {
    expect(wrong).toEqual([])
    await page.close()
  }

  it('shows the market as the API says it is, and moves by itself', { timeout: TEST_MS }, async () => {
    await market('resume')
    const page = await open('/')
    const cell = (name: string): Promise<string> => textOf(page, `tr[data-symbol="BTC"] [data-cell="${name}"]`)
    await expect.poll(() => page.locator('#symbols tbody tr').count(), patience).toBe(8)
    const seen = new Set<string>()
    await expect.poll(async () => seen.add(await cell('price')).size, patience).toBeGreaterThan(3)
    await market('pause')
    try {
      for (const period of periods)
        await agree(
          async () => (await cell(`cvd-${period}`)).replace(/ in .*/, ''),
          () => cvdText('BTC', period),
        )
      expect(await cell('cvd-7d')).toMatch(/ in \d+ (s|min|h|d)$/)
      await agree(
        () => cell('price'),
        async () => format.price((await get('/price/BTC'))['price'] as number),
      )
      await agree(
        () => cell('funding'),
        async () => format.percent((await get('/funding-rate/BTCUSDT'))['funding_rate'] as number, 4),
      )
      await agree(
        () => cell('interest'),
        async () => format.compact((await get('/liquidation/heatmap/BTC'))['open_interest_usd'] as number),
      )
    } finally {
      await market('resume')
      await leave(page)
    }
  })

  async function cvdText(symbol: string, period: string): Promise<string> {
    return format.signed((await get(`/cvd/${symbol}?period=${period}`))['period_cvd_usd'] as number)
  }

  it(
    'shows a symbol’s candles, levels, funding, basis and ratios as the API says them',
    { timeout: TEST_MS },
    async () => {
      const page = await open('/symbol/BTC?interval=1m')
      await expect.poll(() => page.locator('#chart canvas').count(), patience).toBeGreaterThan(2)
      await page.getByText('The newest candles as a table').click()
      await market('pause')
      try {
        await expect.poll(() => textsOf(page, '#candles tbody tr:nth-child(1) td'), patience).toHaveLength(9)
        await expect.poll(() => showsCandle(page, get), patience).toBe(true)
        await expectLegend(page, get, 'okx')
        await agree(
          () => textOf(page, '#basis-panel tr[data-venue="okx"] td:nth-child(4)'),
          async () => {
            const { exchanges } = await get('/futures/basis/BTC')
            return format.inPercent((exchanges as Readonly<Record<string, { basis_pct: number }>>)['okx']?.basis_pct, 3)
          },
        )
        await agree(
          () => textOf(page, '#ladder-stats'),
          async () => {
            const heat = await get('/liquidation/heatmap/BTC')
            return `Open interest ${format.compact(heat['open_interest_usd'] as number)} USD`
          },
        )
        await agree(
          () => textOf(page, '#sentiment'),
          async () => {
            const { aggregate } = await get('/futures/long-short/BTC')
            return `Mean ratio ${(aggregate as { avg_ls_ratio: number }).avg_ls_ratio.toFixed(2)}`
          },
        )
        await agree(
          () => textOf(page, '#predicted'),
          async () => {
            const predicted = await get('/futures/predicted-funding/BTC')
            return format.percent(predicted['predicted_funding_rate'] as number, 4)
          },
        )
      } finally {
        await market('resume')
      }
      await expectAgeWhileFailing(page)
      await leave(page)
    },
  )

  it(
    'finds a symbol by the keyboard, reads the chart by it, and keeps in the address what is shown',
    { timeout: TEST_MS },
    async () => {
      const page = await open('/')
      await expect.poll(() => page.locator('#symbols tbody tr').count(), patience).toBe(8)
      await page.keyboard.press('/')
      await page.keyboard.type('et')
      await expect.poll(() => textsOf(page, '#found [aria-selected="true"]'), patience).toEqual(['ETH'])
      await page.keyboard.press('ArrowDown')
      await page.keyboard.press('ArrowUp')
      await page.keyboard.press('Enter')
      await page.waitForURL('**/symbol/ETH')
      const time = (): Promise<string | null> => page.locator('#ohlc time').getAttribute('datetime')
      await expect.poll(() => page.locator('#ohlc time').count(), patience).toBe(1)
      const newest = Date.parse((await time()) ?? '')
      await page.locator('#chart').focus()
      for (let step = 0; step < 3; step++) await page.keyboard.press('ArrowLeft')
      // The first key points at the newest candle, which may be of the next hour meanwhile.
      const behind = async (): Promise<number> => (newest - Date.parse((await time()) ?? '')) / 3_600_000
      await expect.poll(async () => [1, 2].includes(await behind()), patience).toBe(true)
      expect(await textOf(page, '#ohlc')).toMatch(/O [\d,.]+ ?H [\d,.]+ ?L [\d,.]+ ?C [\d,.]+/)
      await page.getByRole('button', { name: 'Funding', exact: true }).click()
      await page.getByRole('button', { name: '4h', exact: true }).click()
      expect(new URL(page.url()).searchParams.get('interval')).toBe('4h')
      expect(new URL(page.url()).searchParams.get('show')).toBe('volume,cvd,interest,liquidations')
      await page.reload()
      const pressed = (): Promise<string[]> =>
        textsOf(page, '.panel header button[aria-pressed="true"], #layers [aria-pressed="true"]')
      await expect.poll(pressed, patience).toEqual(['4h', 'Volume', 'CVD', 'Open interest', 'Liquidations'])
      await leave(page)
    },
  )

  it(
    'screens all symbols by conditions that stand in the address, and keeps a watchlist',
    { timeout: TEST_MS },
    async () => {
      const page = await open('/screener')
      const first = (): Promise<string> => textOf(page, '#screen tbody tr:first-child a')
      await expect.poll(first, patience).toBe('BTC')
      await page.getByLabel('Figure').selectOption('price')
      await page.getByLabel('Bound').fill('500')
      await page.getByRole('button', { name: 'Add condition' }).click()
      await page.getByRole('button', { name: 'Price USD' }).click()
      await page.getByRole('button', { name: 'Price USD' }).click()
      expect(new URL(page.url()).search).toBe('?where=price%3E500&sort=price&order=asc')
      await page.reload()
      const names = (): Promise<string[]> => textsOf(page, '#screen tbody a')
      await expect.poll(async () => (await names()).join(), patience).toMatch(/^[A-Z,]*ETH,BTC$/)
      await page.getByRole('button', { name: 'Watch ETH' }).click()
      await page.getByRole('button', { name: 'Watchlist only' }).click()
      await expect.poll(names, patience).toEqual(['ETH'])
      await page.goto(`${console_}/?watched=1`)
      await expect.poll(() => textsOf(page, '#symbols tbody a'), patience).toEqual(['ETH'])
      await leave(page)
    },
  )

  it('makes an alert, shows it ring and its deliveries, tests and cancels it', { timeout: TEST_MS }, async () => {
    const page = await open('/alerts')
    const receiver = await startReceiver(system.run().data)
    try {
      await expect.poll(() => page.locator('#symbols option').count(), patience).toBe(8)
      await page.getByLabel('a price alert').check()
      await page.getByLabel('Target price').fill('1')
      await page.getByLabel('URL', { exact: true }).fill(`${receiver.url}/hook`)
      await expect
        .poll(() => textOf(page, '#new .tried'), patience)
        .toMatch(/^Would have rung .* in the .* that are known/)
      const row = '#living > li'
      await pressUntil(page, 'Create alert', '#new .said', 'The alert watches BTC for above 1 USD')
      await expect.poll(() => textOf(page, `${row} [data-cell="state"]`), patience).toBe('triggered')
      const id = (await page.locator(row).first().getAttribute('data-alert')) ?? ''
      receiver.know(id, await textOf(page, '#webhook-secret'))
      await expect.poll(() => textOf(page, `${row} [data-cell="delivery"]`), patience).toMatch(/^delivered, HTTP 2\d\d/)
      // The API may list an attempt later than the stream told of it.
      const late = { deliveries: [], next_cursor: null }
      await page.route('**/deliveries?*', (route) => route.fulfill({ json: late }), { times: 1 })
      await page.getByRole('button', { name: /^Deliveries/ }).click()
      const outcomes = (): Promise<string[]> => textsOf(page, `${row} .opened tbody td:nth-child(4)`)
      await expect.poll(outcomes, patience).toEqual(['delivered'])
      await pressUntil(page, /^Test/, '#said', 'A test event is on its way')
      const bothDelivered = (seen: readonly string[]): boolean =>
        seen.length > 1 && seen.every((outcome) => outcome === 'delivered')
      await expect.poll(outcomes, patience).toSatisfy(bothDelivered)
      expect(await textOf(page, `${row} .opened tbody td:nth-child(2)`)).toContain('(test)')
      await agree(
        async () => String((await outcomes()).length),
        async () => String((await get(`/price-alert/${id}`))['delivery_attempts']),
      )
      await agree(
        () => textOf(page, `${row} [data-cell="count"]`),
        async () => ((await get(`/price-alert/${id}`))['trigger_count'] === 1 ? 'Rang once' : 'not yet'),
      )
      await page.getByRole('button', { name: /^Cancel: BTC above 1 USD/ }).click()
      expect(await textOf(page, '#ask-cancel-terms')).toBe('BTC above 1 USD')
      expect(await seriousFindings(page)).toEqual([])
      await page.keyboard.press('Escape')
      expect((await get(`/price-alert/${id}`))['status']).toBe('triggered')
      await page.getByRole('button', { name: /^Cancel: BTC above 1 USD/ }).click()
      await pressUntil(page, 'Cancel alert', '#said', 'The alert is cancelled')
      await expect.poll(() => textOf(page, '#ended summary'), patience).toBe('Ended in the last 7 days: 1')
      expect(await textOf(page, '#ended [data-cell="state"]')).toBe('cancelled')
      await expect.poll(async () => (await get(`/price-alert/${id}`))['status'], patience).toBe('cancelled')
      expect(receiver.wrong).toEqual([])
    } finally {
      await receiver.close()
      await leave(page)
    }
  })

  it('leads a new user from the opened page to a message', { timeout: TEST_MS }, async () => {
    const receiver = await startReceiver(system.run().data)
    const begun = Date.now()
    const page = await open('/alerts')
    try {
      await page.getByLabel('Metric').selectOption('price')
      await page.getByLabel('Value', { exact: true }).fill('1k')
      await page.getByLabel('URL', { exact: true }).fill(`${receiver.url}/hook`)
      const filled = Date.now()
      await pressUntil(
        page,
        'Create and send me a test',
        '#new .said',
        'The alert watches BTC for price above 1,000 USD',
      )
      const id = (await page.locator('#living > li').first().getAttribute('data-alert')) ?? ''
      receiver.know(id, await textOf(page, '#webhook-secret'))
      await expect.poll(() => receiver.deliveries.size, { ...patience, interval: 20 }).toBeGreaterThan(0)
      const told = Date.now()
      console.log(
        `from the opened console: form filled in ${(filled - begun) / 1000} s, message at the receiver in ${(told - begun) / 1000} s`,
      )
      // The test and the rule's own ring.
      const outcomes = (): Promise<string[]> => textsOf(page, '#living .opened tbody td:nth-child(4)')
      await expect.poll(outcomes, patience).toEqual(['delivered', 'delivered'])
      await expect.poll(() => textOf(page, '#living [data-cell="count"]'), patience).toContain('Rang once')
      console.log(`the rule's own ring in ${(Date.now() - begun) / 1000} s`)
      expect(receiver.wrong).toEqual([])
    } finally {
      await receiver.close()
      await leave(page)
    }
  })

  it('says what is wrong with a rule beside the field, and changes it in place', { timeout: TEST_MS }, async () => {
    const page = await open('/alerts')
    const [group, tag] = [randomUUID(), randomUUID().slice(0, 8)]
    const fill = (name: string, text: string) => page.locator('#new').getByLabel(name, { exact: true }).fill(text)
    await page.locator('#new').getByLabel('Metric').selectOption('funding_rate_pct')
    await fill('Value', 'high')
    await page.locator('#new').getByRole('button', { name: 'Add group' }).click()
    const inner = page.locator('#new .group .group')
    await inner.getByLabel('Comparison').selectOption('between')
    await inner.getByLabel('Value', { exact: true }).fill('3')
    await inner.getByLabel('Upper value').fill('2')
    await page.locator('#new').getByText('How it rings').click()
    await fill('Group', group)
    await fill('Tags', `${tag}-a ${tag}-b`)
    await fill('URL', 'https://example.com/hook')
    await fill('From', '22:00')
    await fill('To', '07:00')
    const press = (): Promise<void> => page.getByRole('button', { name: 'Create alert' }).click()
    const faultAt = (place: string): Promise<string> => textOf(page, `#new ${place} .fault`)
    await press()
    await expect.poll(() => faultAt('.group > .stack > .condition'), patience).toBe('above takes a number.')
    expect(await page.evaluate<string>('document.activeElement.getAttribute("aria-label")')).toBe('Value')
    expect(await seriousFindings(page)).toEqual([])
    await page.locator('#new').getByLabel('Value', { exact: true }).first().fill('0.01')
    await press()
    await expect.poll(() => faultAt('.group .group'), patience).toContain('between takes two numbers')
    await inner.getByLabel('Upper value').fill('1e9')
    await expect.poll(() => textOf(page, '#new .tried'), patience).toMatch(/^Would (?:not )?have rung/)
    expect(await page.locator('#new .tried-chart canvas').count()).toBeGreaterThan(2)
    const refused = wrong.splice(0)
    expect(refused.filter((line) => !/^400 \S+\/api\/alerts(?:\/backtest)?$/.test(line))).toEqual([])
    await pressUntil(page, 'Create alert', '#new .said', 'The alert watches BTC for funding rate above 0.01 %')
    await page.locator('#filter').getByLabel('Group').selectOption(group)
    await page.locator('#filter').getByLabel('Tag').selectOption(`${tag}-b`)
    const row = '#living > li'
    await expect.poll(() => textsOf(page, `${row} h3`), patience).toHaveLength(1)
    await page.getByRole('button', { name: /^Edit: BTC funding rate above 0.01 %/ }).click()
    const open_ = page.locator(`${row} .opened`)
    expect(await open_.getByLabel('Upper value').last().inputValue()).toBe('1000000000')
    await open_.getByLabel('Value', { exact: true }).first().fill('0.02')
    await pressUntil(
      page,
      'Save',
      `${row} h3`,
      'BTC funding rate above 0.02 % and price between 3 and 1,000,000,000 USD',
    )
    expect(await page.locator(`${row} .opened form`).count()).toBe(0)
    const id = (await page.locator(row).first().getAttribute('data-alert')) ?? ''
    expect(await get(`/alerts/${id}`)).toMatchObject({ group, status: 'active', paused: false })
    const { quiet_hours: quiet } = await get(`/alerts/${id}`)
    expect(quiet).toMatchObject({ from: '22:00', to: '07:00' }) // what the change did not touch stays
    await pressUntil(page, /^Pause: BTC/, `${row} [data-cell="state"]`, 'paused')
    expect(await get(`/alerts/${id}`)).toMatchObject({ paused: true })
    await pressUntil(page, /^Resume: BTC/, `${row} [data-cell="state"]`, 'active')
    await leave(page)
  })

  it('shows every stream, gap, lag, hop and audit as the parts say them', { timeout: TEST_MS }, async () => {
    const page = await open('/system')
    await expect.poll(() => page.locator('#matrix tbody tr').count(), patience).toBe(8)
    await expect
      .poll(
        async () => (await textsOf(page, '#matrix tbody td')).filter((text) => !/^(?:LIVE|BACKFILLED)$/.test(text)),
        patience,
      )
      .toEqual([])
    await expect.poll(() => textsOf(page, '#parts li'), patience).toContain('processors ok')
    await agree(
      () => textOf(page, '#health-words'),
      async () => `${String((await get('/healthz'))['open_gaps'])} open gaps`,
    )
    const all = (texts: readonly string[]): unknown => expect.arrayContaining([...texts])
    await expect
      .poll(() => textsOf(page, '#lag tbody td:first-child'), patience)
      .toEqual(all(['cvd', 'prices', 'alerts', 'webhooks']))
    await expect
      .poll(() => textsOf(page, '#hops tbody th'), patience)
      .toEqual(all(['venue to feed', 'receipt to read off the log', 'batch applied and written']))
    await expect.poll(() => textOf(page, '#payments'), patience).toContain('Payments are off')
    await expect
      .poll(() => textsOf(page, '#promises tbody th'), patience)
      .toEqual(all(['Answers without a fault of ours', 'Time in which the API was there']))
    await expect.poll(() => textOf(page, '#letters'), patience).toContain('No record was set aside')
    await leave(page)
  })

  it('shows what API keys were charged and have left, with their invoices', { timeout: TEST_MS }, async () => {
    const [key, other] = [`a${'0'.repeat(19)}`, `b${'0'.repeat(19)}`]
    await tellEntries([
      { key_id: key, kind: 'bought', route: 'POST /credit', amount: 1_000_000, payment_id: 'p', v: 1 },
      { key_id: key, kind: 'charged', route: 'GET /cvd/:symbol', requests: 3, amount: 60_000, v: 2 },
      { key_id: key, kind: 'charged', route: 'GET /screener', requests: 1, amount: 10_000, v: 3 },
      { key_id: other, kind: 'bought', route: 'POST /credit', amount: 500_000, payment_id: 'q', v: 4 },
      { key_id: other, kind: 'charged', route: 'GET /screener', requests: 2, amount: 20_000, v: 5 },
    ])
    const page = await open('/system')
    await page.setViewportSize(widths.narrow)
    await expect
      .poll(() => textsOf(page, '#customers tbody td'), patience)
      .toEqual(['GET /cvd/:symbol', '3', '0.0600', 'GET /screener', '1', '0.0100', 'GET /screener', '2', '0.0200'])
    const heads = await textsOf(page, '#customers tbody th')
    expect(heads).toEqual([
      expect.stringMatching(/^a0+ 0\.93 USD left, bought by 0xaa Invoice$/),
      expect.stringMatching(/^b0+ 0\.48 USD left/),
    ])
    const file = await page.locator('#customers a').first().getAttribute('href')
    const invoice = await (await fetch(console_ + (file ?? ''))).text()
    expect(invoice.split('\r\n').slice(1, -1)).toEqual([
      expect.stringMatching(/^\d{4}-\d\d-\d\d,a0+,0xaa,POST \/credit,1,1,p$/),
      expect.stringContaining(',GET /cvd/:symbol,3,-0.06,'),
      expect.stringContaining(',GET /screener,1,-0.01,'),
    ])
    expect(await seriousFindings(page)).toEqual([])
    await leave(page)
  })

  /** What the core of credit would say. */
  async function tellEntries(entries: readonly (Partial<CreditEntry> & { readonly key_id: string })[]): Promise<void> {
    const run = system.run()
    const log = await connectLog({ brokers: [urlOf(run, 'broker')], namespace: '', clientId: 'console-test' })
    const codec = await loadCodec(urlOf(run, 'registry'))
    const usual = { requests: 1, payer: '0xaa', payment_id: null, kind: 'bought', route: '', amount: 0, v: 0 } as const
    const records = entries.map((entry) => {
      const value = codec.encode('payments.entries', 'credit_entry', { ...usual, time: Date.now() * 1_000, ...entry })
      return { key: entry.key_id, value, time: Date.now() }
    })
    await log.writer().send('payments.entries', 0, records)
    await log.close()
  }

  it('gives every figure that an alert rule asks for, but for payments, which are off', async () => {
    const rules = readFileSync(new URL('../../infra/prometheus/rules.yml', import.meta.url), 'utf8')
    const asked = new Set([...rules.matchAll(/\bmda_(?!payment|clickhouse)\w+/g)].map(([name]) => name))
    const scraped = async (): Promise<string[]> => {
      const text = await (await fetch(`${urlOf(system.run(), 'api')}/metrics`)).text()
      return [...asked].filter((name) => !text.includes(`\n${name}{`))
    }
    // Counters of what has not happened are told without a label, or not at all.
    const rare = /^mda_(?:processor_(?:failed|dead_letters|log_gaps)_total|webhook_)/
    await expect.poll(async () => (await scraped()).filter((name) => !rare.test(name)), patience).toEqual([])
  })

  it('says in the search of the guides when nothing is found, and finds by their topics', async () => {
    if (browser === undefined) throw new Error('there is no browser')
    wrong = []
    const page = await openPage(browser, `${urlOf(system.run(), 'api')}/docs/backup`, wrong)
    const found = (): Promise<number> => page.locator('nav li:visible').count()
    const none = page.locator('#search-none')
    await page.locator('#search').fill('webhook retry')
    expect([(await found()) > 0, await none.isVisible()]).toEqual([true, false])
    await page.locator('#search').fill('no such word')
    expect([await found(), await none.isVisible()]).toEqual([0, true])
    await page.locator('#search').press('Escape')
    expect([(await found()) > 0, await none.isVisible()]).toEqual([true, false])
    await leave(page)
  })

  it('goes on after its line was cut, from where it was, and misses nothing', { timeout: TEST_MS }, async () => {
    if (browser === undefined) throw new Error('there is no browser')
    const proxy = await startCuttingProxy(console_)
    const page = await openPage(browser, `${proxy.url}/alerts`, [])
    try {
      const state = (): Promise<string | null> => page.locator('#stream').getAttribute('data-state')
      await expect.poll(state, patience).toBe('live')
      await expect.poll(() => page.locator('#alerts[data-state="loading"]').count(), patience).toBe(0)
      const before = await page.locator('#living > li').count()
      proxy.cut()
      await expect.poll(state, patience).toBe('lost')
      expect(await textOf(page, '#stream')).toBe('Connection lost, resuming')
      const body = {
        symbol: 'ETH',
        condition: 'crosses_above',
        target_price: 1e6,
        webhook_url: 'https://localhost:4443/',
      }
      const headers = { 'content-type': 'application/json', 'idempotency-key': randomUUID() }
      const make = () => fetch(`${console_}/api/price-alert`, { method: 'POST', headers, body: JSON.stringify(body) })
      await expect.poll(async () => (await make()).status, patience).toBe(201)
      proxy.mend()
      await expect.poll(state, patience).toBe('live')
      await expect.poll(() => page.locator('#living > li').count(), patience).toBe(before + 1)
      expect(proxy.streams.at(-1)?.lastEventId).toMatch(/^[\w.-]{50,}$/)
    } finally {
      await page.close()
      await proxy.close()
    }
  })

  it.each([
    '/',
    '/screener',
    '/symbol/BTC?show=volume,cvd,interest,funding,liquidations,heatmap',
    '/alerts',
    '/system',
  ])('%s is usable by everyone: light and dark, wide and narrow, by keyboard', { timeout: TEST_MS }, async (path) => {
    const page = await open(path)
    const isBusy = (): Promise<number> => page.locator('.panel[data-state="loading"]').count()
    await expect.poll(isBusy, patience).toBe(0)
    await page.keyboard.press('Tab')
    expect(await page.evaluate<string>('document.activeElement.textContent')).toBe('Skip to content')
    await page.keyboard.press('Enter')
    expect(await page.evaluate<string>('document.activeElement.id')).toBe('main')
    for (const width of Object.keys(widths) as Width[])
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.setViewportSize(widths[width])
        await page.emulateMedia({ colorScheme })
        expect([width, colorScheme, await seriousFindings(page)]).toEqual([width, colorScheme, []])
        const over = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')
        expect([width, over]).toEqual([width, 0])
      }
    await leave(page)
  })
})

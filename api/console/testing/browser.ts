import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { chromium, type Browser, type Page } from 'playwright-core'
import { expect } from 'vitest'

/** A loaded machine takes its time to start a browser, milliseconds. */
const LAUNCH_MS = 120_000

const installed = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']

/** Where a Chromium is: as CHROMIUM says, else where systems put it; undefined: nowhere. */
export const chromiumPath = [process.env['CHROMIUM'] ?? '', ...installed].find((file) => existsSync(file))

export function launch(executablePath: string): Promise<Browser> {
  const quiet = ['--disable-background-networking', '--disable-component-update', '--disable-sync', '--no-first-run']
  const args = ['--no-sandbox', '--disable-gpu', '--disable-quic', ...quiet]
  return chromium.launch({ executablePath, args, timeout: LAUNCH_MS })
}

export const widths = { wide: { width: 1440, height: 900 }, narrow: { width: 390, height: 844 } } as const
export type Width = keyof typeof widths

/** A page that writes down everything that goes wrong in it. */
export async function openPage(browser: Browser, url: string, wrong: string[]): Promise<Page> {
  const page = await browser.newPage({ viewport: widths.wide, colorScheme: 'light' })
  page.setDefaultTimeout(patience.timeout)
  page.on('console', (message) => {
    // What could not be loaded is told below, by its status.
    const isLoading = message.text().startsWith('Failed to load resource')
    if (message.type() === 'error' && !isLoading) wrong.push(`${page.url()} console: ${message.text()}`)
  })
  page.on('pageerror', (error) => wrong.push(`${page.url()} threw: ${error.message}`))
  page.on('requestfailed', (request) => {
    const why = request.failure()?.errorText ?? ''
    // A page that is left breaks off what it was listening to.
    if (why !== 'net::ERR_ABORTED') wrong.push(`${request.method()} ${request.url()} failed: ${why}`)
  })
  page.on('response', (response) => {
    // 503 is an answer: a view that is late on a loaded machine, which the page says and asks for again.
    if (response.status() >= 400 && response.status() !== 503) wrong.push(`${response.status()} ${response.url()}`)
  })
  await page.goto(url)
  return page
}

/** The text of the first element that `selector` finds; empty while there is none. */
export async function textOf(page: Page, selector: string): Promise<string> {
  const [text = ''] = await page.locator(selector).allTextContents()
  return text.trim().replaceAll(/\s+/g, ' ')
}

/** The texts of all of them. */
export async function textsOf(page: Page, selector: string): Promise<string[]> {
  const texts = await page.locator(selector).allTextContents()
  return texts.map((text) => text.trim().replaceAll(/\s+/g, ' '))
}

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

interface AxeResults {
  readonly violations: readonly {
    readonly id: string
    readonly impact: string | null
    readonly nodes: readonly { readonly target: readonly string[] }[]
  }[]
}

/** What axe finds serious or worse, as rule and place. */
export async function seriousFindings(page: Page): Promise<string[]> {
  await page.evaluate(axe)
  const results = await page.evaluate<AxeResults>('axe.run(document, { resultTypes: ["violations"] })')
  return results.violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(' ')).join(', ')}`)
}

/** Of every look at a page: the machine may be busy with the system that it shows. */
export const patience = { timeout: 120_000, interval: 250 }

/** Both move, each at its own pace: at some moment the screen says what the API says. */
export async function agree(shown: () => Promise<string>, expected: () => Promise<string>): Promise<void> {
  await expect
    .poll(async () => ({ shown: await shown(), expected: await expected() }), patience)
    .toSatisfy((both: { shown: string; expected: string }) => both.shown.includes(both.expected))
}

/** Presses a button that sends a command, again where a busy service answers 503, and waits until `selector` says `wanted`. */
export async function pressUntil(page: Page, button: string | RegExp, selector: string, wanted: string): Promise<void> {
  const press = async (): Promise<number> => {
    const answered = page.waitForResponse((response) => response.request().method() !== 'GET')
    const [answer] = await Promise.all([answered, page.getByRole('button', { name: button }).click()])
    return answer.status()
  }
  await expect.poll(press, patience).not.toBe(503)
  await expect.poll(() => textOf(page, selector), patience).toContain(wanted)
}

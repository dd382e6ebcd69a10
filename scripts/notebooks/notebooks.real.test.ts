import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Harness } from '../../api/testing/harness.ts'
import { can, python } from '../clients/python/testing/program.ts'
import { startSeededMarket } from './testing/seeded-market.ts'

const here = import.meta.dirname
const pictures = path.join(here, '../../api/docs/assets/notebooks')
const has = can('import ipykernel, nbclient, polars, matplotlib; assert matplotlib.__version__ == "3.11.2"')
if (!has) console.log(`skipped: ${python} has no nbclient, ipykernel, polars or matplotlib 3.11.2; set PYTHON`)

/** Of all kernels together: on two cores CI waits for about as long. */
const CPU_SECONDS_MAX = 15
/** What each finds in the market of the test's seed. */
const finds = {
  cvd_divergence: [/^720 hours, sources: \['trades', 'venue_candles'\]/, /go together by 0\.88/, /bearish ┆ 26 /],
  funding_carry: [
    /^810 settled rates of 3 venues/,
    /okx +┆ 270 +┆ 90\.0 /,
    /differs by 0\.0032 % each 8 hours, 3\.5 % a year/,
  ],
  signal_study: [/buying +┆ 43 /, /selling ┆ 55 /, /buying +┆ 24 +┆ 22 .*false/],
}
const names = Object.keys(finds) as (keyof typeof finds)[]

interface Told {
  readonly name: string
  readonly seconds: number
  readonly cpu_seconds: number
  readonly text: string
  readonly pictures: readonly string[]
}

describe.skipIf(!has)('the notebooks', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'notebooks-'))
  const told = new Map<string, Told>()
  let api: Harness
  beforeAll(async () => {
    api = await startSeededMarket()
    const files = names.map((name) => path.join(here, `${name}.ipynb`))
    const env = { ...process.env, MARKET_DATA_URL: api.url }
    const run = promisify(execFile)
    const { stdout } = await run(python, [path.join(here, 'run.py'), ...files, '--pictures', folder], { env })
    for (const line of stdout.trim().split('\n')) {
      const one = JSON.parse(line) as Told
      told.set(one.name, one)
    }
  })
  afterAll(async () => {
    await api?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  it.each(names)('%s runs from above and finds what the market of the seed has', (name) => {
    for (const found of finds[name]) expect(told.get(name)?.text).toMatch(new RegExp(found, 'm'))
  })

  it.each(names)('%s draws the picture that the documentation shows', async (name) => {
    const [picture = ''] = told.get(name)?.pictures ?? []
    await expect(readFileSync(picture, 'utf8')).toMatchFileSnapshot(path.join(pictures, `${name}.svg`))
  })

  it('take no longer than CI can wait for', () => {
    const all = [...told.values()]
    console.log(all.map((one) => `${one.name}: ${one.seconds} s, ${one.cpu_seconds} s of CPU`).join('; '))
    const used = all.reduce((sum, one) => sum + one.cpu_seconds, 0)
    expect(used).toBeGreaterThan(0)
    expect(used).toBeLessThan(CPU_SECONDS_MAX)
  })
})

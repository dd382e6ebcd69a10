import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { priceVenues, tradeVenues, usualTradeVenues, venueNames } from '../../../schemas/venues.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const table = 'schemas/venues.ts'
const list = 'processors/feeds/venues/venues.ts'
const folder = 'processors/feeds/venues/example/'

function otherSide(venue: string): string[] {
  return ['venues/' + venue, 'venues/venues', 'market/further'].map((name) => `infra/simulator/${name}.ts`)
}

let copy: string
beforeAll(() => {
  copy = mkdtempSync(path.join(tmpdir(), 'guide-'))
  for (const part of ['schemas', 'processors/feeds/venues', 'processors/prices/decimal.ts', 'infra/config']) {
    cpSync(path.join(root, part), path.join(copy, part), { recursive: true })
  }
  writeFileSync(path.join(copy, 'package.json'), '{"type":"module"}')
})
afterAll(() => rmSync(copy, { recursive: true, force: true }))

function edit(file: string, before: string | RegExp, after: string): void {
  const name = path.join(copy, file)
  const text = readFileSync(name, 'utf8')
  expect(text).toMatch(before)
  writeFileSync(name, text.replace(before, after))
}

/** What each expression is in the copy, where `schema`, `code` and `config` are its modules. */
function inCopy(expressions: Readonly<Record<string, string>>): unknown {
  const modules = { schema: table, code: list, config: 'infra/config/settings.ts' }
  const imports = Object.entries(modules).map(([name, file]) => `import * as ${name} from './${file}'`)
  const values = Object.entries(expressions).map(([name, expression]) => `${name}: ${expression}`)
  const script = [...imports, `console.log(JSON.stringify({ ${values.join(', ')} }))`].join('\n')
  const run = ['--input-type=module', '-e', script]
  return JSON.parse(execFileSync(process.execPath, run, { cwd: copy, encoding: 'utf8' }))
}

/** Follows `api/docs/guides/venue.md` with a venue that speaks as Kraken does. */
describe('a venue that is added as the guide says', () => {
  it('touches what the guide names', () => {
    const guide = readFileSync(path.join(root, 'api/docs/guides/venue.md'), 'utf8')
    const [, steps = ''] = /^2\. ([^]*?)^4\. /m.exec(guide) ?? []
    const named = [...guide.matchAll(/`((?:schemas|processors|infra)\/[\w<>./-]*)`/g)].map(([, name = '']) => name)
    expect(named.map((name) => name.replace('<venue>', 'example'))).toEqual([
      table,
      folder,
      list,
      ...otherSide('example'),
    ])
    const files = [...steps.matchAll(/`(\w+\.ts)`/g)].map(([, name = '']) => name)
    // Binance's spot market speaks as its perpetuals do.
    for (const { venue } of tradeVenues.filter((row) => row.venue !== 'binance_spot')) {
      expect(readdirSync(path.join(root, 'processors/feeds/venues', venue))).toEqual(expect.arrayContaining(files))
    }
  })

  it('is named in no other code than the guide says', () => {
    const venue = tradeVenues.at(-1)?.venue ?? ''
    const own = new RegExp(`/${venue}/|^scripts/clients/|\\.test\\.ts$`)
    const code = ['schemas', 'processors', 'api', 'infra', 'scripts'].flatMap((part) =>
      readdirSync(path.join(root, part), { recursive: true, encoding: 'utf8' }).map((name) => `${part}/${name}`),
    )
    const naming = code
      .filter((name) => name.endsWith('.ts') && !own.test(name))
      .filter((name) => readFileSync(path.join(root, name), 'utf8').toLowerCase().includes(venue))
    expect(naming.toSorted()).toEqual([table, list, ...otherSide(venue)].toSorted())
  })

  it('has its settings, its rank in the chain of prices, and is run as all others', () => {
    const line = [
      `  example: {`,
      `    title: 'Example',`,
      `    hosts: { ws: 'wss://ws.example.com', rest: 'https://api.example.com' },`,
      `    trades: { market: 'spot', ids: 'contiguous', further: true },`,
      `    spot: { rank: 99, quotes: ['USD'] },`,
      `  },`,
    ]
    const end = '} as const satisfies Readonly<Record<string, VenueLine>>'
    edit(table, end, `${line.join('\n')}\n${end}`)
    cpSync(path.join(copy, 'processors/feeds/venues/kraken'), path.join(copy, folder), { recursive: true })
    edit(`${folder}venue.ts`, 'export const kraken: TradeVenue', 'export const example: TradeVenue')
    edit(`${folder}venue.ts`, "name: 'kraken'", "name: 'example'")
    edit(`${folder}trades.ts`, "tradeStreamOf('kraken'", "tradeStreamOf('example'")
    edit(list, 'import type { TradeStream', "import { example } from './example/venue.ts'\nimport type { TradeStream")
    edit(list, /\n}\n/, '\n  example,\n}\n')

    const own = 'code.venues.find(({ name }) => name === "example")'
    const said = inCopy({
      names: 'schema.venueNames',
      prices: 'schema.priceVenues',
      settings: '[config.settings.EXAMPLE_WS_URL.example, config.settings.EXAMPLE_REST_URL.example]',
      on: 'config.settings.VENUES.default',
      counted: 'config.settings.CVD_VENUES.default',
      trades: `${own}.trades.venue`,
      topics: `${own}.streams.map(({ topic }) => topic)`,
      read: `${own}.streams[0].parse('{"channel":"heartbeat"}')`,
    })
    expect(said).toMatchObject({
      names: [...venueNames, 'example'],
      prices: [...priceVenues, 'example'],
      settings: ['wss://ws.example.com', 'https://api.example.com'],
      on: [...venueNames, 'example'].join(),
      counted: usualTradeVenues.map(({ venue }) => venue).join(),
      trades: 'example',
      topics: ['market.tickers'],
      read: [{ kind: 'heartbeat' }],
    })
  })
})

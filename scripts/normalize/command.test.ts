import { spawnSync } from 'node:child_process'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'

const command = new URL('../normalize.ts', import.meta.url).pathname
const frame =
  '{"type":"match","trade_id":7,"side":"buy","size":"0.2","price":"63514.6","product_id":"BTC-USD","sequence":9,"time":"2026-07-07T22:58:17.164892Z"}'

function normalize(input: string | Buffer, ...args: string[]) {
  return spawnSync(process.execPath, [command, ...args], { input, encoding: 'utf8', timeout: 110_000 })
}

describe('npm run normalize', () => {
  const lines = `${frame}\nnonsense\n${frame}`

  it.each([
    ['plain', lines],
    ['gzip', gzipSync(lines)],
  ])('prints records on stdout and counts on stderr, from %s input', (_, input) => {
    const { stdout, stderr, status } = normalize(input, '--venue', 'coinbase', '--channel', 'matches')
    const records = stdout
      .trim()
      .split('\n')
      .map((line): unknown => JSON.parse(line))
    expect(records).toMatchObject([
      { instrument: 'coinbase:spot:BTC-USD', taker: 'sell' },
      { first_id: 7, last_id: 7 },
    ])
    expect(stderr).toBe('3 lines, 2 trades, 1 refused not-json\n')
    expect(status).toBe(0)
  })

  it('shows each refused line when asked', () => {
    expect(normalize(lines, '--venue', 'coinbase', '--channel', 'matches', '--verbose').stderr).toContain(
      'not-json: nonsense\n',
    )
  })

  it.each([
    [['--venue', 'gemini', '--channel', 'x'], '--venue: no venue gemini; there are binance, bybit, okx, coinbase'],
    [['--channel', 'x'], '--venue: no venue (none given)'],
    [
      ['--venue', 'okx', '--channel', 'x'],
      '--channel: okx has no x; it has trades-all, trades, rest-trades, instruments',
    ],
    [['--nonsense'], '--nonsense'],
  ])('says what is wrong with %j and exits 2', (args, message) => {
    const { stderr, status } = normalize('', ...args)
    expect(stderr).toContain(message)
    expect(status).toBe(2)
  })

  it('fails on a file that is cut off', () => {
    expect(normalize(gzipSync(lines).subarray(0, 60), '--venue', 'coinbase', '--channel', 'matches').status).toBe(1)
  })

  it('helps', () => {
    const { stdout, status } = normalize('', '--help')
    expect(stdout).toContain('binance: aggTrade, trade; bybit: publicTrade; okx: trades-all, trades; coinbase: matches')
    expect(status).toBe(0)
  })
})

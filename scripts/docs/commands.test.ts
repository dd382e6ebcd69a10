import { describe, expect, it } from 'vitest'
import { blocksIn, documentedBlocks, notRun, withAddresses, planOf } from './testing/commands.ts'

const commands = documentedBlocks().flatMap(({ document, commands: all }) =>
  all.map((command) => ({ document, command })),
)

describe('the documented commands', () => {
  it('are found where they stand: joined over lines, within lists, without comments', () => {
    const text = ['```sh', 'a \\', '  -b', '# no', 'c', '```', '1. x', '', '   ```sh', '   d', '   ```'].join('\n')
    expect(blocksIn(text)).toEqual([['a \\\n  -b', 'c'], ['d']])
  })

  it('are each run, or named with the reason why not', () => {
    expect(commands.length).toBeGreaterThan(30)
    const ran = commands.filter(({ document, command }) => typeof planOf(document, command) === 'string')
    expect(ran.length).toBeGreaterThan(15)
    const unused = notRun.filter(([begin]) => !commands.some(({ command }) => command.startsWith(begin)))
    expect(unused).toEqual([])
  })

  it('are run on the addresses of the system at hand', () => {
    const places = { api: 'http://a', clickhouse: 'http://c', receiver: 'https://r', data: '/d' }
    expect(withAddresses("curl -s 'http://127.0.0.1:3000/cvd/BTC'", places)).toBe(
      "curl --fail-with-body -s 'http://a/cvd/BTC'",
    )
    expect(withAddresses('npm run pay -- GET /cvd/BTC', places)).toMatch(
      /^'.*node' '.*scripts\/pay\.ts' --data '\/d' GET/,
    )
  })
})

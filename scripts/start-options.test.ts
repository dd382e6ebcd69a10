import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { readOptions } from './start-options.ts'

describe('the command line of npm start', () => {
  it('means the demo in .data on the usual ports when it is empty', () => {
    expect(readOptions([])).toMatchObject({
      mode: 'demo',
      data: path.resolve('.data'),
      fresh: false,
      ports: { api: 3000, clickhouse: 8123, kafka: 9092, registry: 8081 },
    })
  })

  it.each([
    ['--live', 'live'],
    ['--demo', 'demo'],
    ['--tape=tapes/a.jsonl', 'tape'],
  ])('takes %s as the mode %s', (argument, mode) => {
    expect(readOptions([argument])?.mode).toBe(mode)
  })

  it('leaves ports open for auto, but those that are given', () => {
    const options = readOptions(['--ports', 'auto', '--api-port', '4000'])
    expect(options?.ports).toMatchObject({ api: 4000, clickhouse: undefined, kafka: undefined })
  })

  it.each(['off', 'local', 'x402'])('takes --payments %s, and leaves it to the environment otherwise', (mode) => {
    expect(readOptions(['--payments', mode])?.payments).toBe(mode)
    expect(readOptions([])?.payments).toBeUndefined()
  })

  it('means one of each, and with --cluster three brokers, two hosts and a folder of its own', () => {
    expect(readOptions([])).toMatchObject({ brokers: 1, hosts: 1, processorHosts: 1 })
    const cluster = readOptions(['--cluster', '--processors', '3'])
    expect(cluster).toMatchObject({ brokers: 3, hosts: 2, processorHosts: 3, data: path.resolve('.data/cluster') })
  })

  it('wants help where it says so', () => {
    expect(readOptions(['--help'])).toBeUndefined()
  })

  it.each([
    ['two modes', ['--live', '--demo'], '--demo and --live exclude each other'],
    ['hosts without a cluster', ['--processors', '2'], '--processors is for a cluster'],
    ['too many hosts', ['--cluster', '--processors', '9'], '--processors must be 1 to 8, got 9'],
    ['an unknown flag', ['--fast'], "Unknown option '--fast'"],
    ['a word too many', ['fast'], 'Unexpected argument'],
    ['a port that is no number', ['--api-port', 'x'], '--api-port must be a whole number, got x'],
    ['a port that is too high', ['--api-port', '70000'], '--api-port 70000 is no port'],
    ['payments of another kind', ['--payments', 'cash'], '--payments must be off, local or x402, got cash'],
    ['a speed without a tape', ['--speed', '2'], 'give --tape PATH'],
    ['a rate for the real venues', ['--live', '--rate', '5'], 'leave out --live'],
    ['ports that are not auto', ['--ports', 'high'], '--ports must be auto, got high'],
  ])('refuses %s', (_what, argv, message) => {
    expect(() => readOptions(argv)).toThrow(message)
  })
})

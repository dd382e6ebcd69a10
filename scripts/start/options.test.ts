import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { describeSystem } from '../../infra/local/system.ts'
import { readOptions } from './options.ts'

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

  const partsOf = (...argv: string[]): string[] => {
    const options = readOptions(argv)
    if (options === undefined) throw new Error('no options')
    const { mode, hosts, rehearse } = options
    const ports = { api: 1, console: 2, clickhouse: 3, kafka: 4, registry: 5, simulator: 6, payments: 7, chain: 8 }
    const several = Array.from({ length: hosts }, (_, index) => 9 + index)
    const each = { feeds: several, processors: several, webhooks: several, apis: [], brokers: [] }
    const folder = { root: '/r', mode: '/r/m', logs: '/r/m/logs', partitions: 2, ended: [], release: () => undefined }
    const system = describeSystem({
      mode,
      rehearse,
      folder,
      ports: { ...ports, ...each },
      payments: options.payments ?? 'x402',
      simulator: {},
      feedClock: 'host',
      facilitator: '',
      blockSeconds: 0,
      forgetsAfterMs: 0,
      secret: {},
      password: {},
      external: {},
      onProgress: () => undefined,
    })
    return [...system.stores.flat(), ...system.services].map(({ name }) => name)
  }

  it('rehearses with what calls nobody: without webhooks and payments, and without a made-up market', () => {
    const stores = ['registry', 'broker', 'clickhouse']
    expect(partsOf('--live')).toEqual([...stores, 'processors', 'webhooks', 'payments', 'feeds', 'api', 'console'])
    expect(partsOf('--live', '--rehearse')).toEqual([...stores, 'processors', 'feeds', 'api', 'console'])
    expect(partsOf('--demo', '--rehearse')).toEqual([...stores, 'processors', 'api', 'console'])
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
    [
      'payments of a rehearsal',
      ['--rehearse', '--payments', 'x402'],
      'a rehearsal charges nobody: leave out --payments',
    ],
    ['a speed without a tape', ['--speed', '2'], 'give --tape PATH'],
    ['a rate for the real venues', ['--live', '--rate', '5'], 'leave out --live'],
    ['ports that are not auto', ['--ports', 'high'], '--ports must be auto, got high'],
  ])('refuses %s', (_what, argv, message) => {
    expect(() => readOptions(argv)).toThrow(message)
  })
})

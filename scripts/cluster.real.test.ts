import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import kafkajs from 'kafkajs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { asAdmin, readReplicas } from '../infra/kafka/admin.ts'
import { createEmptyTopics } from '../infra/kafka/setup.ts'
import { hostsOf, urlOf, type RunFile } from '../infra/local/run-file.ts'
import { programFile } from '../infra/local/system.ts'
import { startOwnSystem, withoutPast, type OwnSystem } from './own-system.ts'

const START_MS = 400_000
const CHAOS_MS = 500_000
const PARTITIONS = [0, 1]
/** Of it none of the first alerts has quiet hours, for whose end the account would wait two minutes. */
const SEED = '406'

let system: OwnSystem | undefined
beforeAll(async () => {
  const small = { PARTITIONS: String(PARTITIONS.length), ...withoutPast }
  system = await startOwnSystem(['--cluster', '--seed', '11', '--rate', '80'], small)
}, START_MS)
afterAll(() => system?.dispose(), START_MS)

function started(): OwnSystem {
  if (system === undefined) throw new Error('no cluster')
  return system
}

/** Of every host, by name: another one where it was started again. */
function pids(run: RunFile): Record<string, number | undefined> {
  return Object.fromEntries(run.parts.map(({ name, pid }) => [name, pid]))
}

/** What the processors' hosts were dealt of cvd's partitions, each in the order of its log. */
function dealt(run: RunFile): Record<string, number[][]> {
  const lines = (name: string): number[][] =>
    readFileSync(path.join(run.data, 'logs', `${name}.log`), 'utf8')
      .split('\n')
      .filter((line) => line.includes('"processor":"cvd","partitions"'))
      .map((line) => (JSON.parse(line) as { partitions: number[] }).partitions)
  return Object.fromEntries(hostsOf(run, 'processors').map(({ name }) => [name, lines(name)]))
}

/** What it said, also where its account is not right. */
function chaos(...args: readonly string[]): Promise<{ stdout: string; stderr: string }> {
  const running = promisify(execFile)(process.execPath, [programFile('scripts/chaos.ts'), ...args])
  return running.catch((error: unknown) => error as { stdout: string; stderr: string })
}

describe('a cluster on one machine, started by npm run cluster', () => {
  it('has every topic on three brokers, two of which must have each record', async () => {
    const options = { brokers: urlOf(started().run(), 'broker').split(','), clientId: 'test' }
    const replicas = await readReplicas(options)
    const names = [...new Set(replicas.map(({ topic }) => topic))]
    const usual = ['market.trades', 'state.cvd', '__consumer_offsets', '__transaction_state', 'kafkasql-journal']
    expect(names).toEqual(expect.arrayContaining(usual))
    expect(replicas.filter((each) => each.replicas.length !== 3)).toEqual([])
    const { resources } = await asAdmin(options, (admin) =>
      admin.describeConfigs({
        includeSynonyms: false,
        resources: names.map((name) => ({ type: kafkajs.ConfigResourceTypes.TOPIC, name })),
      }),
    )
    const inSync = resources.map(({ resourceName, configEntries }) => {
      return [resourceName, configEntries.find(({ configName }) => configName === 'min.insync.replicas')?.configValue]
    })
    expect(inSync.filter(([, least]) => least !== '2')).toEqual([])
  })

  it('makes no topics for a restored log before it is told how many replicas', async () => {
    const brokers = urlOf(started().run(), 'broker').split(',')
    const sizes = { brokers, namespace: 'restored.', partitions: 2, retentionBytes: 1e9 }
    const unsaid = createEmptyTopics({ ...sizes, replicationFactor: undefined })
    await expect(unsaid).rejects.toThrow('there are 3 brokers: set REPLICATION_FACTOR')
    const made = (await readReplicas({ brokers, clientId: 'test' })).filter(({ topic }) =>
      topic.startsWith('restored.'),
    )
    expect(made).toEqual([])
  })

  it(
    'loses and doubles nothing while a machine is away, and no other host starts anew: they take its work',
    { timeout: CHAOS_MS },
    async () => {
      const { data } = started()
      const run = (): RunFile => started().run()
      await expect.poll(() => Object.values(dealt(run())).map((each) => each.at(-1)?.length)).toEqual([1, 1])
      const before = { pids: pids(run()), dealt: dealt(run()) }
      const args = [
        '--minutes',
        '0.1',
        '--only',
        'machine',
        '--seed',
        SEED,
        '--alerts',
        '1',
        '--patience',
        '300',
        '--json',
      ]
      const { stdout, stderr } = await chaos('--cluster', '--data', data, ...args)
      const lines = stdout.trim().split('\n')
      expect(lines.filter((line) => line.includes('"fault"'))).toEqual([])
      if (!lines.at(-1)?.includes('"ok"')) throw new Error(`no account: ${stderr}`)
      const account = JSON.parse(lines.at(-1) ?? '') as Readonly<Record<string, number>>
      expect(account).toMatchObject({ lost: 0, doubled: 0, triggers_lost: 0, triggers_unexpected: 0, ok: true })
      expect(account).toMatchObject({ answers_wrong: 0, answers_unjudged: 0 })
      expect(account['answers_checked']).toBeGreaterThan(0)
      expect(account['triggers']).toBeGreaterThan(0)
      expect(account['trades']).toBeGreaterThan(0)
      const [, host] = /machine (\d)/.exec(stdout) ?? []
      const away = ['broker', 'processors', 'api'].map((role) => `${role}-${host}`)
      const after = pids(run())
      const anew = Object.keys(after).filter((name) => after[name] !== before.pids[name])
      expect(anew.sort()).toEqual(away.sort())
      const taken = Object.entries(dealt(run())).map(([name, each]) => each.slice(before.dealt[name]?.length))
      expect(taken.flat()).toContainEqual(PARTITIONS)
    },
  )
})

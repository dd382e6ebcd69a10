import path from 'node:path'
import type { Clickhouse } from '../../infra/clickhouse/client.ts'
import type { LocalFacilitator, FacilitatorBehaviour } from '../../infra/local/chain/facilitator.ts'
import { startChild, type Child } from '../../infra/local/child.ts'
import { cutTail, freeze } from '../../infra/local/testing/faults.ts'
import { hostsOf, urlOf, type RunFile } from '../../infra/local/run-file.ts'
import { programFile } from '../../infra/local/system.ts'
import type { Log } from '../../infra/kafka/seam.ts'
import { partitionsOf } from '../../infra/kafka/topic-settings.ts'
import { topicOf } from '../../schemas/topics.ts'
import { unlessStopped } from '../command/command.ts'
import type { Accident } from './accidents.ts'
import { emptyDisk, takeMachine, moveAllLeaders, restartBrokers, unplug, untilInSync } from './cluster.ts'
import type { RetainedLog } from './retained-log.ts'
import { gone, killNow, pause, pidOf, post, type Running } from './parts.ts'
import type { Action } from './schedule.ts'

type ActionOf<Kind extends Action['kind']> = Extract<Action, { kind: Kind }>

const ANSWER_MS = 5_000
const LOOK_EVERY_MS = 100
const REPLACED_WITHIN_MS = 60_000
/** Time for the one that takes over, and for some claims of each when both are awake. */
const AWAKE_MS = 5_000

/** What accidents need that take something off the log. */
export interface Losing {
  readonly kept: RetainedLog
  readonly log: Pick<Log, 'trim'>
  readonly partitions: number
  /** Put before topics' names. */
  readonly namespace: string
  /** What accidents took so far. */
  readonly accidents: Accident[]
}

/** A running system as chaos sees it. */
export interface Target extends Running {
  readonly clickhouse: Clickhouse
  /** The log as it was before accidents took something away; undefined: none of them is tried. */
  readonly losing?: Losing | undefined
  /** The stand-in that settles; undefined: a wallet does, or nobody. */
  readonly facilitator?: LocalFacilitator | undefined
}

/** Does `action`; resolves when it is over, with the moment (host's milliseconds) from which the system may recover. */
export async function disturb(target: Target, action: Action): Promise<number> {
  switch (action.kind) {
    case 'kill':
      killNow(await pidOf(target, action.part))
      return Date.now()
    case 'freeze':
      return frozen(await pidOf(target, action.part), () => pause(target, action.ms))
    case 'replace':
      return replace(target, await pidOf(target, action.part), action.ms)
    case 'clock':
      return lie(target, await pidOf(target, action.part), action.ms)
    case 'hold':
      await post(`${urlOf(target.run(), 'supervisor')}/hold/${action.part}?ms=${action.ms}`)
      await pause(target, action.ms)
      return Date.now()
    case 'machine':
      await takeMachine(target, action.host, action.ms)
      return Date.now()
    case 'rolling':
      await restartBrokers(target)
      return Date.now()
    case 'empty':
      await emptyDisk(target, action.part, action.ms)
      return Date.now()
    case 'leaders':
      await moveAllLeaders(target)
      return Date.now()
    case 'unplug':
      await unplug(target, action.part, action.ms)
      return Date.now()
    case 'facilitator':
      return mislead(target, action.behaviour, action.ms)
    case 'cut':
      return cut(target, losingOf(target), action)
    case 'overtake':
      return overtake(target, losingOf(target), await pidOf(target, action.part), action)
    case 'fault':
      await post(`${urlOf(target.run(), 'simulator')}/faults`, action.fault)
      await pause(target, action.fault.duration_ms ?? 0)
      return Date.now()
  }
}

async function frozen(pid: number, meanwhile: () => Promise<void>): Promise<number> {
  try {
    await freeze(pid)
    await meanwhile()
  } finally {
    process.kill(pid, 'SIGCONT')
  }
  return Date.now()
}

async function mislead(target: Target, behaviour: FacilitatorBehaviour, ms: number): Promise<number> {
  const { facilitator } = target
  if (facilitator === undefined) throw new Error('no facilitator of ours settles')
  facilitator.behaviour = behaviour
  try {
    await pause(target, ms)
  } finally {
    facilitator.behaviour = 'well'
  }
  await facilitator.release()
  return Date.now()
}

/** SIGUSR2 puts a demo's feeds' clock wrong, and right again (`infra/local/lying-clock.ts`). */
async function lie(target: Target, pid: number, ms: number): Promise<number> {
  process.kill(pid, 'SIGUSR2')
  try {
    await pause(target, ms)
  } finally {
    process.kill(pid, 'SIGUSR2')
  }
  return Date.now()
}

/** Another process claims what the frozen one had. It ends when both have been awake for a while, refused by turns. */
async function replace(target: Target, pid: number, ms: number): Promise<number> {
  let other: Child | undefined
  try {
    await frozen(pid, async () => {
      await pause(target, ms)
      other = await unlessStopped(target.stop, startReplacement(target.run()))
      await pause(target, AWAKE_MS)
    })
    await pause(target, AWAKE_MS)
  } finally {
    await other?.stop()
  }
  return Date.now()
}

function losingOf({ losing }: Target): Losing {
  if (losing === undefined) throw new Error('only the log of a system of our own may lose something')
  return losing
}

/** A power cut: the broker ends at once, and its disk does not have what it took in last. */
async function cut(target: Target, losing: Losing, { topic, records, ms }: ActionOf<'cut'>): Promise<number> {
  const { kept, partitions, namespace, accidents } = losing
  const run = target.run()
  const pid = await pidOf(target, 'broker')
  await kept.advance()
  const back = Date.now() + ms
  await post(`${urlOf(run, 'supervisor')}/hold/broker?ms=${ms}`)
  await gone(target, pid)
  for (let partition = 0; partition < partitionsOf(topicOf(topic), { partitions }); partition++) {
    const lost = await cutTail(path.join(run.data, 'broker'), namespace + topic, partition, records)
    if (lost === undefined) continue
    const { from, to, behind } = lost
    accidents.push({ kind: 'cut', topic, partition, from, to, behind, time: Date.now() })
    kept.cut(topic, partition, lost)
  }
  if (Date.now() > back) throw new Error(`the broker was back before its files were cut, after ${ms} ms`)
  return Date.now()
}

/**
 * Deletes what a frozen reader has not read, half of the time after it came, so that all others have. They are not to be
 * overtaken.
 */
async function overtake(
  target: Target,
  losing: Losing,
  pid: number,
  { topic, ms }: ActionOf<'overtake'>,
): Promise<number> {
  const { kept, log, partitions, accidents } = losing
  return frozen(pid, async () => {
    await pause(target, ms / 2)
    const all = Array.from({ length: partitions }, (_, partition) => partition)
    const ends = await kept.offsets(topic, all, 'end')
    await pause(target, ms / 2)
    for (const [partition, end] of ends) {
      const to = kept.realOf(topic, partition, end)
      accidents.push({ kind: 'trim', topic, partition, from: 0, to, time: Date.now() })
      await log.trim({ topic, partition, offset: to })
    }
  })
}

function startReplacement(run: RunFile): Promise<Child> {
  return startChild({
    name: 'replacement',
    command: [process.execPath, programFile('processors/main.ts')],
    env: {
      MODE: run.mode,
      PARTITIONS: String(run.partitions),
      KAFKA_BROKERS: urlOf(run, 'broker'),
      SCHEMA_REGISTRY_URL: urlOf(run, 'registry'),
      OPS_PORT: '0',
    },
    logFile: path.join(run.data, 'logs', 'replacement.log'),
    ready: 'message',
    readyWithinMs: REPLACED_WITHIN_MS,
    stopWithinMs: ANSWER_MS,
  })
}

/**
 * Milliseconds from `since` until the whole pipeline works on what came after it: partition time of every partition of
 * `derived.flow` and `alerts.events`, as ClickHouse has it, is past it, the dispatchers are well and the API answers. Throws
 * when that takes longer than its patience: such a system is broken. Of a cluster resolves when its brokers are in sync.
 */
export async function recovery(target: Target, since: number): Promise<number> {
  const deadline = since + target.patienceMs
  while (Date.now() < deadline) {
    const run = target.run()
    const dispatchers = hostsOf(run, 'webhooks').map(({ url }) => answers(`${url}/healthz`))
    const answer = [answers(`${urlOf(run, 'api')}/cvd/BTC`), ...dispatchers]
    const works = (await newestTime(target.clickhouse)) > since && (await Promise.all(answer)).every(Boolean)
    if (works) {
      const ms = Date.now() - since
      if (hostsOf(run, 'broker').length > 1) await untilInSync(target)
      return ms
    }
    await pause(target, LOOK_EVERY_MS)
  }
  throw new Error(`the system had not recovered ${target.patienceMs / 1000} s after the disturbance`)
}

/** The partition that is furthest behind, milliseconds; 0 while ClickHouse does not answer. */
async function newestTime(clickhouse: Clickhouse): Promise<number> {
  try {
    const [line] = await clickhouse.rows<{ ms: string }>(
      "SELECT toUnixTimestamp64Milli(min(time)) AS ms FROM partition_times WHERE topic IN ('derived.flow', 'alerts.events')",
    )
    return Number(line?.ms ?? 0)
  } catch {
    return 0 // being down is what chaos is about: the deadline above tells an outage from an end
  }
}

/** Where payments are taken, an API that asks for one answers. */
const PAYMENT_REQUIRED = 402

async function answers(url: string): Promise<boolean> {
  return fetch(url, { signal: AbortSignal.timeout(ANSWER_MS) }).then(
    (answer) => answer.ok || answer.status === PAYMENT_REQUIRED,
    () => false,
  )
}

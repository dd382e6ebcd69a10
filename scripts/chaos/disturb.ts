import { setTimeout as delay } from 'node:timers/promises'
import type { Clickhouse } from '../../infra/clickhouse/client.ts'
import type { LocalFacilitator, Mood } from '../../infra/local/chain/facilitator.ts'
import { urlOf, type RunFile } from '../../infra/local/run-file.ts'
import type { PartReport } from '../../infra/local/supervisor.ts'
import type { Action, Fault } from './schedule.ts'

const ANSWER_MS = 5_000
const LOOK_EVERY_MS = 100
/** A system that has not recovered by then is broken. */
const RECOVERY_MS_MAX = 180_000

/** A running system as chaos sees it. */
export interface Target {
  /** Read anew each time: a part that was restarted has another pid. */
  run(): RunFile
  readonly clickhouse: Clickhouse
  /** The stand-in that settles; undefined: a wallet does, or nobody. */
  readonly facilitator?: LocalFacilitator | undefined
}

/** Does `action`; resolves when it is over, with the moment (host's milliseconds) from which the system may recover. */
export async function disturb(target: Target, action: Action): Promise<number> {
  switch (action.kind) {
    case 'kill':
      process.kill(await pidOf(target, action.part), 'SIGKILL')
      return Date.now()
    case 'freeze':
      return freeze(await pidOf(target, action.part), action.ms)
    case 'clock':
      return lie(await pidOf(target, action.part), action.ms)
    case 'hold':
      await post(`${urlOf(target.run(), 'supervisor')}/hold/${action.part}?ms=${action.ms}`)
      await delay(action.ms)
      return Date.now()
    case 'facilitator':
      return mislead(target, action.mood, action.ms)
    case 'fault':
      await post(`${urlOf(target.run(), 'simulator')}/faults`, action.fault)
      await delay(action.fault.duration_ms ?? 0)
      return Date.now()
  }
}

async function freeze(pid: number, ms: number): Promise<number> {
  process.kill(pid, 'SIGSTOP')
  try {
    await delay(ms)
  } finally {
    process.kill(pid, 'SIGCONT')
  }
  return Date.now()
}

async function mislead({ facilitator }: Target, mood: Mood, ms: number): Promise<number> {
  if (facilitator === undefined) throw new Error('no facilitator of ours settles')
  facilitator.mood = mood
  try {
    await delay(ms)
  } finally {
    facilitator.mood = 'well'
  }
  await facilitator.release()
  return Date.now()
}

/** SIGUSR2 puts a demo's feeds' clock wrong, and right again (`infra/local/lying-clock.ts`). */
async function lie(pid: number, ms: number): Promise<number> {
  process.kill(pid, 'SIGUSR2')
  try {
    await delay(ms)
  } finally {
    process.kill(pid, 'SIGUSR2')
  }
  return Date.now()
}

async function pidOf(target: Target, name: string): Promise<number> {
  const answer = await fetch(`${urlOf(target.run(), 'supervisor')}/parts`, { signal: AbortSignal.timeout(ANSWER_MS) })
  const parts = (await answer.json()) as readonly PartReport[]
  const part = parts.find((candidate) => candidate.name === name)
  if (part?.pid === undefined) throw new Error(`${name} does not run`)
  return part.pid
}

async function post(url: string, body?: Fault): Promise<void> {
  const answer = await fetch(url, {
    method: 'POST',
    signal: AbortSignal.timeout(ANSWER_MS),
    ...(body !== undefined && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  })
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}: ${await answer.text()}`)
}

/**
 * Milliseconds from `since` until the whole pipeline works on what came after it: partition time of every partition of
 * `derived.flow` and `alerts.events`, as ClickHouse has it, is past it, the dispatcher is well and the API answers. Throws
 * when that takes too long.
 */
export async function recovery(target: Target, since: number): Promise<number> {
  const deadline = since + RECOVERY_MS_MAX
  while (Date.now() < deadline) {
    const answer = [answers(target.run(), 'api', '/cvd/BTC'), answers(target.run(), 'webhooks', '/healthz')]
    const works = (await newestTime(target.clickhouse)) > since && (await Promise.all(answer)).every(Boolean)
    if (works) return Date.now() - since
    await delay(LOOK_EVERY_MS)
  }
  throw new Error(`the system had not recovered ${RECOVERY_MS_MAX / 1000} s after the disturbance`)
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

async function answers(run: RunFile, part: string, path: string): Promise<boolean> {
  return fetch(`${urlOf(run, part)}${path}`, { signal: AbortSignal.timeout(ANSWER_MS) }).then(
    (answer) => answer.ok || answer.status === PAYMENT_REQUIRED,
    () => false,
  )
}

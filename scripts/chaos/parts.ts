import { existsSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { urlOf, type RunFile } from '../../infra/local/run-file.ts'
import type { PartReport } from '../../infra/local/supervisor.ts'
import { unlessStopped } from '../command/command.ts'

const ANSWER_MS = 5_000
const LOOK_EVERY_MS = 100
const RUNS_WITHIN_MS = 30_000

export interface Running {
  /** Read anew each time: a part that was restarted has another pid. */
  run(): RunFile
  /** What is not over after so long is broken; on a busy machine a broker alone takes long to stop. */
  readonly patienceMs: number
  /** Aborted: nothing is waited for any longer, and what was disturbed is put right. */
  readonly stop: AbortSignal
}

/** Throws `StopError` where it is stopped meanwhile. */
export function pause({ stop }: Pick<Running, 'stop'>, ms: number): Promise<void> {
  return unlessStopped(stop, delay(ms))
}

/** kill -9. */
export function killNow(pid: number): void {
  process.kill(pid, 'SIGKILL')
}

export async function gone(target: Running, pid: number): Promise<void> {
  const { patienceMs } = target
  const deadline = Date.now() + patienceMs
  while (existsSync(`/proc/${pid}`)) {
    if (Date.now() > deadline) throw new Error(`process ${pid} did not end within ${patienceMs} ms`)
    await pause(target, LOOK_EVERY_MS)
  }
}

/** Of a part that runs; one that was killed just before is being started again. */
export async function pidOf(target: Running, name: string): Promise<number> {
  const deadline = Date.now() + RUNS_WITHIN_MS
  for (;;) {
    const pid = await lastPidOf(target, name)
    if (pid !== undefined && existsSync(`/proc/${pid}`)) return pid
    if (Date.now() > deadline) throw new Error(`${name} does not run`)
    await pause(target, LOOK_EVERY_MS)
  }
}

async function lastPidOf(target: Running, name: string): Promise<number | undefined> {
  const answer = await fetch(`${urlOf(target.run(), 'supervisor')}/parts`, { signal: AbortSignal.timeout(ANSWER_MS) })
  const parts = (await answer.json()) as readonly PartReport[]
  return parts.find((candidate) => candidate.name === name)?.pid
}

export async function post(url: string, body?: object): Promise<void> {
  const answer = await fetch(url, {
    method: 'POST',
    signal: AbortSignal.timeout(ANSWER_MS),
    ...(body !== undefined && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  })
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}: ${await answer.text()}`)
}

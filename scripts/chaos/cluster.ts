import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import path from 'node:path'
import { moveLeaders, readReplicas } from '../../infra/kafka/admin.ts'
import { hostsOf, urlOf, type RunFile } from '../../infra/local/run-file.ts'
import { gone, pause, pidOf, post, type Running } from './parts.ts'

const LOOK_EVERY_MS = 200

const clientOf = (run: RunFile) => ({ brokers: urlOf(run, 'broker').split(','), clientId: 'chaos' })

/** What is on one machine ends at once, and is away for `ms`: a broker, and a host of each service that has one of that number. */
export async function takeMachine(target: Running, host: number, ms: number): Promise<void> {
  const supervisor = urlOf(target.run(), 'supervisor')
  const names = ['broker', 'processors', 'api'].map((role) => `${role}-${host}`)
  await Promise.all(names.map((name) => post(`${supervisor}/hold/${name}?ms=${ms}`)))
}

/** Each broker is stopped cleanly and started again, the next one when all replicas are in sync. */
export async function restartBrokers(target: Running): Promise<void> {
  for (const { name } of hostsOf(target.run(), 'broker')) {
    const pid = await pidOf(target, name)
    process.kill(pid, 'SIGTERM')
    await gone(target, pid)
    await isBack(target, name, pid)
    await untilInSync(target)
  }
}

/** A broker comes back with nothing on its disk. */
export async function emptyDisk(target: Running, name: string, ms: number): Promise<void> {
  const run = target.run()
  const pid = await pidOf(target, name)
  const back = Date.now() + ms
  await post(`${urlOf(run, 'supervisor')}/hold/${name}?ms=${ms}`)
  await gone(target, pid)
  await rm(path.join(run.data, name), { recursive: true })
  if (Date.now() > back) throw new Error(`${name} was back before its disk was empty, after ${ms} ms`)
  await isBack(target, name, pid)
}

/** Leaders move on while all brokers are well. */
export function moveAllLeaders(target: Running): Promise<void> {
  return moveLeaders(clientOf(target.run()))
}

/** Between a broker and its clients nothing passes; the brokers reach each other. */
export async function unplug(target: Running, name: string, ms: number): Promise<void> {
  const pid = await pidOf(target, name)
  process.kill(pid, 'SIGUSR2')
  try {
    await pause(target, ms)
  } finally {
    process.kill(pid, 'SIGUSR2')
  }
}

async function isBack(target: Running, name: string, before: number): Promise<void> {
  const deadline = Date.now() + target.patienceMs
  for (;;) {
    const pid = target.run().parts.find((part) => part.name === name)?.pid
    if (pid !== undefined && pid !== before && existsSync(`/proc/${pid}`)) return
    if (Date.now() > deadline) throw new Error(`${name} was not back within ${target.patienceMs} ms`)
    await pause(target, LOOK_EVERY_MS)
  }
}

/**
 * Every partition of every topic is on as many brokers as it is to be: the next of them may go. A broker says that it is
 * ready before its replicas are.
 */
export async function untilInSync(target: Running): Promise<void> {
  const deadline = Date.now() + target.patienceMs
  const wanted = hostsOf(target.run(), 'broker').length
  for (;;) {
    const all = await readReplicas(clientOf(target.run())).catch(() => undefined) // no broker to ask: the deadline tells
    const missing = all?.filter(({ inSync }) => inSync.length < wanted)
    if (missing?.length === 0) return
    if (Date.now() > deadline) {
      const some = missing?.slice(0, 5).map(({ topic, partition }) => `${topic}/${partition}`)
      throw new Error(`not in sync within ${target.patienceMs} ms: ${some?.join(', ') ?? 'no broker answered'}`)
    }
    await pause(target, LOOK_EVERY_MS)
  }
}

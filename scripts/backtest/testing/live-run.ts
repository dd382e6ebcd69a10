import type { Tape } from '../../../infra/tapes/tape.ts'
import type { ReadonlyAside } from '../core/replay.ts'
import { Study } from '../core/study.ts'
import type { Cause } from '../../../processors/kernel/dead-letters.ts'
import { Driver } from '../../../processors/kernel/testing/driver.ts'
import type { ProcessorRow } from '../../../processors/kernel/processor.ts'
import { PARTITIONS, type Input, type Plan } from '../../../processors/kernel/testing/fault-plans.ts'
import { localCodec } from '../../../schemas/codec.ts'
import { Check, type CheckReport } from '../check.ts'
import { Collect } from '../collect.ts'
import { readAhead, replayPartition, settingAside, type RunOptions } from '../run.ts'
import { memoryTape } from './tape.ts'

const codec = localCodec()

/** What the real host wrote of a log, whatever befell it. */
export async function liveRun(
  row: ProcessorRow,
  log: readonly Input[],
  { steps, instances, ...snapshots }: Plan,
  everyMs = 1,
): Promise<Driver> {
  const [topic] = row.inputs
  if (topic === undefined) throw new Error(`${row.name} reads nothing`)
  const driver = new Driver({ row, codec, partitions: PARTITIONS, instances, ...snapshots })
  log.forEach(({ partition: own, message }, index) => driver.feed(topic, own, 'key', message, index * everyMs))
  for (const step of steps) await driver.step(step)
  await driver.drain()
  return driver
}

export interface Replayed {
  readonly check: CheckReport
  /** Where all outputs were wanted, and where the last alone. */
  readonly hashes: readonly [each: string, last: string]
  /** What was set aside, by processor and place. */
  readonly aside: readonly string[]
}

export async function replayed(row: ProcessorRow, driver: Driver, batch: number): Promise<Replayed> {
  return replayedFrom(memoryTape(driver.broker, codec, PARTITIONS, batch), row)
}

export async function replayedFrom(tape: Tape, row: ProcessorRow): Promise<Replayed> {
  const rows = [row]
  const range = { from: 0, to: Infinity }
  const partitions = [...Array(PARTITIONS).keys()]
  const plan = { tape, rows, partitions, range, leadInMs: 0, assets: undefined, commands: undefined }
  const stop = new AbortController().signal
  const readings = await readAhead(plan)
  const each = async (options: Omit<RunOptions, 'plan' | 'onUndecodable' | 'stop'>): Promise<ReadonlyAside> => {
    const found = new Map<string, Cause>()
    for (const [partition, own] of readings) {
      const run = { ...options, plan, onUndecodable: () => undefined, stop }
      for (const [name, cause] of await replayPartition(run, partition, own, () => undefined)) found.set(name, cause)
    }
    return found
  }
  return settingAside(
    async (aside) => {
      const check = new Check({ tape, rows, range, leadInMs: 0, assets: undefined })
      const [all, last] = [newCollect(), newCollect()]
      await each({ observers: [check, all], aside })
      await each({ observers: [last], aside })
      const hashes = [all.outputs.close().hash, last.outputs.close().hash] as const
      return { check: check.report(), hashes, aside: [...aside.keys()].sort() }
    },
    () => each({ observers: [], aside: 'search' }),
  )
}

function newCollect(): Collect {
  const study = new Study({ latencyMs: 0, horizonsMs: [1_000], rules: [] })
  return new Collect({ study, prices: 'composite', placeOf: (place) => place })
}

import { readdirSync, rmSync, statSync } from 'node:fs'
import path from 'node:path'
import { fileTape } from '../../infra/tapes/file-tape.ts'
import type { Format } from '../../infra/tapes/folder.ts'
import { exportTo, newFolder, readAll } from '../../infra/tapes/testing/tapes.ts'
import { BYTES_MAX, marketRecords } from '../../infra/tapes/testing/market.ts'
import type { LogRecord } from '../../infra/kafka/seam.ts'
import type { Bench, Figure } from '../figure.ts'
import { startCost } from './system/cost.ts'

const TRADES = 400_000
const SEGMENT_RECORDS = 200_000

/** What a trade takes in a file of each format, against its limit, and what writing and reading it costs on one core. */
const bench: Bench = async () => {
  const records = marketRecords(TRADES)
  await measure('parquet', records.slice(0, 20_000)) // unmeasured: the code is compiled then
  await measure('avro', records.slice(0, 20_000))
  const avro = await measure('avro', records)
  const parquet = await measure('parquet', records)
  return [
    bytes('avro', avro),
    bytes('parquet', parquet),
    speed('parquet written against avro', parquet.written, avro.written),
    speed('parquet read against avro', parquet.read, avro.read),
  ]
}

export default bench

interface Cost {
  readonly bytes: number
  /** Trades a second of processor time. */
  readonly written: number
  readonly read: number
}

async function measure(format: Format, records: readonly LogRecord[]): Promise<Cost> {
  const folder = newFolder()
  try {
    const written = await rate(records, () =>
      exportTo(records, { format, folder, segmentRecords: SEGMENT_RECORDS }).then(() => records.length),
    )
    const read = await rate(records, async () => (await readAll(fileTape(folder))).length)
    return { bytes: bytesIn(folder, format) / records.length, written, read }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function rate(records: readonly LogRecord[], work: () => Promise<number>): Promise<number> {
  const ended = startCost()
  const done = await work()
  const { cpu } = ended()
  if (done !== records.length) throw new Error(`${done} trades of ${records.length}`)
  return done / cpu
}

function bytesIn(folder: string, format: Format): number {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith(`.${format}`))
  return files.reduce((sum, name) => sum + statSync(path.join(folder, name)).size, 0)
}

function bytes(format: Format, { bytes: value }: Cost): Figure {
  return {
    metric: `a trade as ${format} against 1/8 of its frame`,
    value,
    unit: 'bytes',
    baseline: BYTES_MAX,
    n: TRADES,
  }
}

function speed(metric: string, value: number, baseline: number): Figure {
  return { metric, value, unit: 'trades/cpu s', baseline, n: TRADES }
}

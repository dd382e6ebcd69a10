import { existsSync } from 'node:fs'
import path from 'node:path'
import { readConfig } from '../infra/config/config.ts'
import { settings } from '../infra/config/settings.ts'
import { loadCodec } from '../infra/kafka/codec.ts'
import { urlOf } from '../infra/local/run-file.ts'
import { fileTape } from '../infra/tapes/file-tape.ts'
import { leftOut } from '../infra/tapes/message.ts'
import type { TopicName } from '../schemas/topics.ts'
import { readWhole, runCommand, running, text, UsageError, type Values, stopSignal } from './command/command.ts'
import { tapeErrors } from './command/open-tape.ts'
import { ProgressBar } from './command/progress-bar.ts'
import { openLog } from './command/system.ts'
import type { ArchiveFile } from './import/archive.ts'
import { layoutNames } from './import/layouts.ts'
import { movableTopics, writeToBroker } from './import/to-broker.ts'
import { writeArchive } from './import/write-archive.ts'

const usage = `npm run import -- [flags]: makes a tape of public trade archives, or writes a tape into a broker's topics.

  --binance FILE   daily trades or aggTrades of data.binance.vision, as SYMBOL-aggTrades-DATE.csv, .csv.gz or .zip
  --bybit FILE     daily trades of public.bybit.com, .csv or .csv.gz
  --okx FILE       daily trades of okx.com/historical-data, as BTC-USDT-SWAP-trades-DATE.zip or .csv
  --tardis FILE    trades of tardis.dev, .csv or .csv.gz: of one symbol, or of several that share a partition
                   each as often as needed; files are merged by time
  --market M       perp (default) or spot: what the files of the venues are of
  --partitions N   of the tape (default: PARTITIONS, 12)
  --out DIR        the tape; run the same command again and it goes on where it was stopped
  --tape DIR       instead of archives: write this tape into the broker of a system that runs on --data, whose
                   topics must be empty or hold the beginning of the same tape
  --topics A,B     of that tape (default: all that it has but control.gaps, which tells of the other log's offsets)
  --data DIR       the running system's data folder (default .data)
  --help           this text

A backtest of archives: npm run backtest -- --mode archive --source DIR. Exit 0: all is there; 1: stopped; 2: it could not be done.`

const many = { ...text, multiple: true } as const
const flags = {
  binance: many,
  bybit: many,
  okx: many,
  tardis: many,
  market: { ...text, default: 'perp' },
  partitions: text,
  out: text,
  tape: text,
  topics: text,
  data: { ...text, default: '.data' },
} as const

type Given = Values<typeof flags>

async function archives(values: Given, stop: AbortSignal): Promise<boolean> {
  const files = layoutNames.flatMap((layout) => (values[layout] ?? []).map((file): ArchiveFile => ({ layout, file })))
  const market = (['perp', 'spot'] as const).find((name) => name === values.market)
  if (files.length === 0) throw new UsageError('name archives with --binance, --bybit, --okx or --tardis; see --help')
  if (market === undefined) throw new UsageError(`--market must be perp or spot, got ${values.market}`)
  if (values.topics !== undefined) throw new UsageError('--topics goes with --tape')
  if (values.out === undefined) throw new UsageError('name the folder of the tape with --out')
  const { PARTITIONS } = readConfig(process.env, ['PARTITIONS'])
  const partitions = readWhole('--partitions', values.partitions ?? String(PARTITIONS), 1)
  const { max } = settings.PARTITIONS
  if (partitions > max) throw new UsageError(`--partitions must be at most ${max}, got ${partitions}`)
  const missing = files.filter(({ file }) => !existsSync(file)).map(({ file }) => file)
  if (missing.length > 0) throw new UsageError(`there is no file ${missing.join(', ')}`)
  const bar = new ProgressBar({ isTerminal: process.stderr.isTTY, write: (text) => void process.stderr.write(text) })
  let records = 0
  const onProgress = (count: number, time: number): void => {
    records += count
    void bar.step({ records, total: records, time: time / 1000 })
  }
  const folder = path.resolve(values.out)
  const imported = await writeArchive({ files, market, partitions, folder, onProgress, stop })
  const refused = [...imported.refusals].map(([reason, count]) => `${count} lines refused: ${reason}`)
  const rest = imported.isDone ? [] : ['stopped: run the same command again to go on']
  console.log([`${records} records written to ${folder}`, ...refused, ...rest].join('\n'))
  return imported.isDone
}

async function broker(values: Given, folder: string, stop: AbortSignal): Promise<boolean> {
  const run = running(values.data, 'or name its folder with --data')
  const tape = fileTape(folder)
  const names = topicsOf(values.topics, tape.topics)
  if (tape.partitions !== run.partitions)
    throw new UsageError(
      `${folder} has ${tape.partitions} partitions, the broker's topics ${run.partitions}: ` +
        `start a system with PARTITIONS=${tape.partitions} on an empty data folder`,
    )
  const log = await openLog(run, 'import')
  try {
    const codec = await loadCodec(urlOf(run, 'registry'))
    const bar = new ProgressBar({ isTerminal: process.stderr.isTTY, write: (text) => void process.stderr.write(text) })
    let done = 0
    const onProgress = (count: number, time: number): void => {
      done += count
      void bar.step({ records: done, total: done, time })
    }
    const written = await writeToBroker({ tape, log, codec, topics: names, onProgress, stop })
    const rest = written.isDone ? '' : '; stopped: run the same command again to go on'
    console.log([`${written.records} records written to the broker${rest}`, ...leftOut(written.unreadable)].join('\n'))
    return written.isDone
  } finally {
    await tape.close()
    await log.close()
  }
}

function topicsOf(given: string | undefined, there: ReadonlySet<TopicName>): TopicName[] {
  const movable = movableTopics(there)
  if (given === undefined) return movable
  return given.split(',').map((name) => {
    const topic = movable.find((candidate) => candidate === name.trim())
    if (topic === undefined) throw new UsageError(`no topic ${name} to import; there are ${movable.join(', ')}`)
    return topic
  })
}

const stop = stopSignal()
await runCommand({ usage, flags, expected: tapeErrors }, (values) =>
  values.tape === undefined ? archives(values, stop) : broker(values, values.tape, stop),
)

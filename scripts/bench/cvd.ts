import { hostClock } from '../../infra/clock.ts'
import type { RegistryCodec } from '../../infra/kafka/codec.ts'
import { fixedMembership } from '../../infra/kafka/membership.ts'
import type { Log, LogReader } from '../../infra/kafka/seam.ts'
import { ownTopics } from '../../infra/kafka/testing/topics.ts'
import { cvd } from '../../processors/cvd/cvd.ts'
import { quietMeter, quietReport } from '../../processors/kernel/quiet.ts'
import { runProcessors, SNAPSHOT_RECORDS } from '../../processors/kernel/run.ts'
import { processorsNamed } from '../../processors/topology.ts'
import { localCodec, type Codec } from '../../schemas/codec.ts'
import type { Message, Trade } from '../../schemas/records.ts'
import type { Bench, BenchParts, Figure } from '../figure.ts'
import { costOf, type Cost } from './system/cost.ts'
import { logOf, writeNext } from './trades/log-of.ts'

const PARTITIONS = 4
const TRADES = 1_000_000
/** The code of both sides is compiled by then. */
const WARM_UP_TRADES = 100_000
const BATCH = 2_000
const CATCH_UP_MS_MAX = 120_000
const FETCH = { maxWaitMs: 100, maxBytesPerPartition: 512 * 1024 }

/** The CVD processor reading Kafka, against the same client reading and decoding only; and its core by itself. */
const bench: Bench = async (parts) => {
  const core = coreOnly()
  const shared = await parts()
  await round(shared, WARM_UP_TRADES)
  const { processor, client } = await round(shared, TRADES)
  return [
    core,
    figure('trades from Kafka into flow', 'trades/s', TRADES / processor.seconds, TRADES / client.seconds),
    figure('CPU of a trade from Kafka into flow', 'us', (processor.cpu * 1e6) / TRADES, (client.cpu * 1e6) / TRADES),
  ]
}

function figure(metric: string, unit: string, value: number, baseline: number): Figure {
  return { metric, value, unit, baseline, n: TRADES }
}

/** A log of its own: written, read by the client alone, then by the processor; both in trades a second. */
async function round(parts: BenchParts, trades: number): Promise<{ processor: Cost; client: Cost }> {
  const { log, codec } = await ownTopics(parts, 'bench-cvd', PARTITIONS)
  try {
    await produce(log, codec, trades)
    await read(log, codec) // unmeasured: the broker has the pages then
    const client = await costOf(() => read(log, codec))
    let stop = (): Promise<void> => Promise.resolve()
    const processor = await costOf(async () => {
      stop = await run(log, codec)
    })
    await stop() // unmeasured: it waits for a fetch at the end of the log, where there is nothing to come
    return { client, processor }
  } finally {
    await log.close()
  }
}

export default bench

function coreOnly(): Figure {
  const messages = [...logOf(0, { partitions: PARTITIONS, trades: TRADES })]
  let us = Infinity
  for (let run = 0; run < 3; run++) us = Math.min(us, foldAll(messages))
  return { metric: 'core.apply of a trade', value: us, unit: 'us', n: messages.length }
}

/** Microseconds for each of the messages, decoded from their bytes as in life but outside of the measure. */
function foldAll(messages: readonly Message[]): number {
  const codec = localCodec()
  const decoded = messages.map(({ type, value }) =>
    codec.decode(codec.encode('market.trades', type as 'trade', value as Trade)),
  )
  const state = cvd.empty()
  const emit = (): void => undefined
  const startedAt = performance.now()
  for (const [offset, message] of decoded.entries()) {
    cvd.apply(
      state,
      { topic: 'market.trades', offset, time: 0, message },
      { partition: 0, v: offset, partitionTime: 0 },
      emit,
    )
    if (offset % BATCH === 0) cvd.flush?.(state, emit)
  }
  return ((performance.now() - startedAt) * 1000) / decoded.length
}

async function produce(log: Log, codec: Codec, trades: number): Promise<void> {
  const writer = log.writer()
  for (let partition = 0; partition < PARTITIONS; partition++)
    await writeNext(writer, codec, partition, logOf(partition, { partitions: PARTITIONS, trades }))
  await writer.close()
}

/** Reads and decodes everything, as the runner does but for what a processor adds. */
async function read(log: Log, codec: Codec): Promise<void> {
  const reader = log.reader()
  const ends = await endsOf(reader)
  const at = new Map([...ends.keys()].map((partition) => [partition, 0]))
  for (;;) {
    const open = [...at].filter(([partition, offset]) => offset < (ends.get(partition) ?? 0))
    if (open.length === 0) break
    const positions = open.map(([partition, offset]) => ({ topic: 'market.trades', partition, offset }))
    for (const { partition, records, next } of await reader.fetch(positions, FETCH)) {
      for (const { value } of records) if (value !== null) codec.decode(value)
      at.set(partition, next)
    }
  }
  await reader.close()
}

function endsOf(reader: LogReader): Promise<Map<number, number>> {
  return reader.offsets('market.trades', [...Array(PARTITIONS).keys()], 'end')
}

/** The real runner with its outputs, snapshots and claims, from nothing to the log's end; gives its stop. */
async function run(log: Log, codec: RegistryCodec): Promise<() => Promise<void>> {
  const reader = log.reader()
  const records = [...(await endsOf(reader)).values()].reduce((sum, end) => sum + end, 0)
  let applied = 0
  const { promise: finished, resolve: finish, reject: giveUp } = Promise.withResolvers<void>()
  const late = setTimeout(() => giveUp(new Error(`not at the end in ${CATCH_UP_MS_MAX} ms`)), CATCH_UP_MS_MAX)
  const meter = {
    ...quietMeter,
    applied: (_: string, count: number) => {
      applied += count
      if (applied >= records) finish()
    },
  }
  const membership = fixedMembership([...Array(PARTITIONS).keys()])
  const runner = runProcessors({
    rows: processorsNamed(['cvd']).map((row) => ({ row, membership })),
    ports: {
      log,
      reader,
      codec,
      lookUp: (id) => codec.lookUp(id),
      hint: () => Promise.resolve(),
      clock: hostClock,
      meter,
      report: quietReport,
    },
    snapshots: { everyMs: 5_000, everyRecords: SNAPSHOT_RECORDS },
    partitions: PARTITIONS,
    sessionMs: 6_000,
    onLostLog: 'go-on',
    retentionBytes: 1e12,
  })
  await finished
  clearTimeout(late)
  return () => runner.stop()
}

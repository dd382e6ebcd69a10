import { partitionOf } from '../../schemas/catalogue.ts'
import type { Message, RecordType, Records } from '../../schemas/records.ts'
import type { TopicName } from '../../schemas/topics.ts'
import { partsOf, sourceNames } from '../../schemas/venues.ts'
import type { FakeMarket } from './fake-market.ts'
import type { LogTarget } from './facts.ts'
import { marketTopics } from './market-facts.ts'

/**
 * Writes a market's records to the log, each latest value after one that it replaces, and a mark of the feeds at
 * `target.now` into every partition. Liquidations get the places in `market` that they have in the log.
 */
export async function fillMarketLog(target: LogTarget, market: FakeMarket): Promise<void> {
  const put = putter(target)
  const old = target.now - 3_600_000_000
  for (const value of market.tickers) {
    await put('market.tickers', 'spot_ticker', { ...value, price: 1, time: old, received: old })
    await put('market.tickers', 'spot_ticker', value)
  }
  for (const value of market.settlements) await put('market.funding', 'settlement', value)
  for (const value of market.ratios) {
    await put('market.funding', 'long_short_ratio', { ...value, ls_ratio: 9, time: old, received: old })
    await put('market.funding', 'long_short_ratio', value)
  }
  for (const value of market.funding) {
    await put('derived.funding', 'funding', { ...value, exchanges: [], v: 0 })
    await put('derived.funding', 'funding', value)
  }
  for (const value of market.prices) {
    await put('alerts.inputs', 'composite_price', { ...value, price: 1, time: old, v: 0 })
    await put('alerts.inputs', 'composite_price', value)
  }
  for (const value of market.risks) {
    await put('alerts.inputs', 'liquidation_risk', { ...value, price: 1, time: old, v: 0 })
    await put('alerts.inputs', 'liquidation_risk', value)
  }
  for (const value of market.tokens) await put('market.tokens', 'token', value, value.id)
  await putInstruments(target, market)
  await putLiquidations(target, market)
  await putMarks(target)
}

function putter(target: LogTarget) {
  return async <Type extends RecordType>(topic: TopicName, type: Type, value: Records[Type], token?: string) => {
    const asset = 'asset' in value && typeof value.asset === 'string' ? value.asset : ''
    const partition = token === undefined ? partitionOf(asset, target.partitions) : 0
    const record = { key: token ?? asset, value: target.codec.encode(topic, type, value), time: target.now / 1000 }
    await target.log.writer().send(topic, partition, [record])
  }
}

/** Every market that the records name is listed. */
async function putInstruments({ log, codec, now }: LogTarget, { tickers, funding }: FakeMarket): Promise<void> {
  const named = [...tickers, ...funding.flatMap(({ asset, exchanges }) => exchanges.map((row) => ({ ...row, asset })))]
  const records = named.map(({ instrument, asset }) => {
    const { venue, market, symbol } = partsOf(instrument)
    const names = { instrument, asset, venue, market, symbol, base: asset.toUpperCase(), quote: 'USDT', settle: 'USDT' }
    const terms = {
      size_factor: 1,
      price_factor: 1,
      tick: null,
      status: 'live',
      source: 'venue',
      valid_from: now,
    } as const
    const value = codec.encode('market.instruments', 'instrument', { ...names, ...terms })
    return { key: instrument, value, time: now / 1000 }
  })
  await log.writer().send('market.instruments', 0, records)
}

async function putLiquidations(target: LogTarget, market: FakeMarket): Promise<void> {
  const put = putter(target)
  const ends = new Map<number, number>()
  const placed: FakeMarket['liquidations'] = []
  for (const { partition: _p, offset: _o, ...value } of market.liquidations.toSorted((a, b) => a.time - b.time)) {
    const partition = partitionOf(value.asset, target.partitions)
    const offset = ends.get(partition) ?? 0
    ends.set(partition, offset + 1)
    placed.push({ ...value, partition, offset })
    await put('market.liquidations', 'liquidation', value)
  }
  market.liquidations = placed
}

async function putMarks({ log, codec, partitions, now }: LogTarget): Promise<void> {
  const since = now - 7_200_000_000
  const venues = sourceNames.map((venue) => ({ venue, state: 'live' as const, sockets: 1, since }))
  const value = { writer: 'feeds', run: since, time: now, venues, changes: [] }
  const message: Message<'mark'> = { type: 'mark', value }
  for (const topic of marketTopics)
    for (let partition = 0; partition < partitions; partition++) {
      const record = { key: 'feeds', value: codec.encode(topic, 'mark', message.value), time: now / 1000 }
      await log.writer().send(topic, partition, [record])
    }
}

import type { Position } from '../../infra/kafka/seam.ts'
import type { Message } from '../../schemas/records.ts'
import type { TopicName } from '../../schemas/topics.ts'
import type { Update } from './board.ts'
import { HeardBoard } from './heard.ts'

/** What customers can listen to. */
export const channels = ['cvd', 'price', 'funding', 'liquidations', 'signals'] as const

export type Channel = (typeof channels)[number]

/** Of a channel without an entry here each event stands for itself; of these the newest word per asset is told. */
export const newestOnly = ['cvd', 'price', 'funding'] as const satisfies readonly Channel[]

/** The topics that the channels follow from. */
const topics: readonly TopicName[] = [
  'derived.flow',
  'alerts.inputs',
  'derived.funding',
  'market.liquidations',
  'derived.signals',
]

/** Assets of the catalogue, and the newest events, that are held. */
const keysMax: Readonly<Record<Channel, number>> = {
  cvd: 2_000,
  price: 2_000,
  funding: 2_000,
  liquidations: 2_000,
  signals: 2_000,
}

/** An event with its place in the log. */
export interface Happened {
  readonly message: Message
  readonly partition: number
  readonly offset: number
}

/** The board of the channels. */
export function channelBoard(partitions: number): HeardBoard {
  return new HeardBoard({ topics, partitions, keysMax, says })
}

/** What a record says to customers; nothing for most. */
function says(message: Message, { partition, offset }: Position): Update[] {
  switch (message.type) {
    case 'flow':
    case 'cvd':
      return [changed('cvd', message.value.asset)]
    case 'composite_price':
      // What tells of a time that has passed is not the price of now.
      return message.value.late ? [] : [changed('price', message.value.asset)]
    case 'funding':
      return [changed('funding', message.value.asset)]
    case 'liquidation':
      return [event('liquidations', message.value.asset, { message, partition, offset })]
    case 'signal':
      return [event('signals', message.value.asset, { message, partition, offset })]
    default:
      return []
  }
}

const madeLater = {}

/** The answer about an asset is another one now: it is made when it is told. */
export function changed(kind: Channel, asset: string): Update {
  return { kind, key: asset, asset, value: madeLater }
}

function event(kind: Channel, asset: string, value: Happened): Update {
  return { kind, key: `${value.partition}/${value.offset}`, asset, value }
}

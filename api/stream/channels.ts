import type { Position } from '../../infra/kafka/seam.ts'
import type { Message } from '../../schemas/records.ts'
import type { TopicName } from '../../schemas/topics.ts'
import { Board, type Update } from './board.ts'

/** What customers can listen to. */
export const channels = ['cvd', 'price', 'funding', 'liquidations', 'signals'] as const

export type Channel = (typeof channels)[number]

/** Of a channel without an entry here each event stands for itself; of these the newest word per asset is told. */
export const newestOnly = ['cvd', 'price', 'funding'] as const satisfies readonly Channel[]

/** The topics that the channels follow from; a place on the board counts them in this order. */
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

/** The board of the channels: it hears what is folded into the present, after that. */
export class ChannelBoard {
  readonly board: Board

  constructor(partitions: number) {
    const none = topics.map(() => Array.from({ length: partitions }, () => 0))
    this.board = new Board(none, keysMax)
  }

  /** From here on records are heard, anew where they were heard before. */
  begin(positions: readonly Position[]): void {
    for (const { topic, ...position } of positions) {
      const index = topics.findIndex((known) => known === topic)
      if (index >= 0) this.board.begin({ topic: index, ...position })
    }
  }

  hear({ topic, partition, offset }: Position, message: Message): void {
    const index = topics.findIndex((known) => known === topic)
    if (index < 0) return
    const update = updateOf({ message, partition, offset })
    this.board.take({ topic: index, partition, offset }, update === undefined ? [] : [update])
  }
}

/** What a record says to customers; nothing for most. */
function updateOf(happened: Happened): Update | undefined {
  const { message, partition, offset } = happened
  switch (message.type) {
    case 'flow':
    case 'cvd':
      return changed('cvd', message.value.asset)
    case 'composite_price':
      // What tells of a time that has passed is not the price of now.
      return message.value.late ? undefined : changed('price', message.value.asset)
    case 'funding':
      return changed('funding', message.value.asset)
    case 'liquidation':
      return event('liquidations', message.value.asset, { message, partition, offset })
    case 'signal':
      return event('signals', message.value.asset, { message, partition, offset })
    default:
      return undefined
  }
}

/** The answer about an asset is another one now: it is made when it is told. */
export function changed(kind: Channel, asset: string): Update {
  return { kind, key: asset, asset, value: {} }
}

function event(kind: Channel, asset: string, value: Happened): Update {
  return { kind, key: `${value.partition}/${value.offset}`, asset, value }
}

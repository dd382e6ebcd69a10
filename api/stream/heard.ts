import type { Position } from '../../infra/kafka/seam.ts'
import type { Message } from '../../schemas/records.ts'
import type { TopicName } from '../../schemas/topics.ts'
import { Board, type BoardPosition, type Update } from './board.ts'

export interface HeardOptions {
  /** What it follows from; a place on the board counts topics in this order. */
  readonly topics: readonly TopicName[]
  readonly partitions: number
  /** Of each kind. */
  readonly keysMax: Readonly<Record<string, number>>
  /** What a record says; nothing for most. */
  readonly says: (message: Message, at: Position) => readonly Update[]
}

/** A board that hears what is folded into the present, after that. */
export class HeardBoard {
  readonly board: Board
  readonly #options: HeardOptions

  constructor(options: HeardOptions) {
    const { topics, partitions, keysMax } = options
    this.#options = options
    this.board = new Board(
      topics.map(() => Array.from({ length: partitions }, () => 0)),
      keysMax,
    )
  }

  /** From here on records are heard, anew where they were heard before. */
  begin(positions: readonly Position[]): void {
    for (const position of positions) {
      const boardPosition = this.positionOf(position)
      if (boardPosition !== undefined) this.board.begin(boardPosition)
    }
  }

  /** Without a message the record says nothing, and its place is passed. */
  hear(at: Position, message?: Message): void {
    const boardPosition = this.positionOf(at)
    if (boardPosition === undefined) return
    this.board.take(boardPosition, message === undefined ? [] : this.#options.says(message, at))
  }

  /** Undefined: it does not follow from the topic. */
  protected positionOf({ topic, partition, offset }: Position): BoardPosition | undefined {
    const index = this.#options.topics.findIndex((known) => known === topic)
    return index < 0 ? undefined : { topic: index, partition, offset }
  }
}

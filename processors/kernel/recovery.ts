import type { Claim, OutRecord, Position } from '../../infra/kafka/seam.ts'
import type { TopicName } from '../../schemas/topics.ts'
import type { Fold } from './fold.ts'
import type { Grounds, LostOutput } from './grounds.ts'
import type { Outputs } from './outputs.ts'
import type { Ports } from './ports.ts'

export interface RecoveryOptions {
  readonly partition: number
  readonly ports: Ports
  readonly claim: Claim
  readonly grounds: Grounds
  readonly folded: Fold
  /** Offset to read next, of each input; what is found moves it. */
  readonly next: Map<TopicName, number>
  readonly outputs: Outputs
}

/** A task's writes, and what it does where the log has lost something of what it read or wrote. */
export class Recovery {
  readonly #options: RecoveryOptions

  constructor(options: RecoveryOptions) {
    this.#options = options
  }

  /**
   * Looks whether the log is the one that was read and written so far. Where an input is not, the gap is told and reading
   * goes on behind it; where an output is not, what the state still knows is written again. True: an input goes on
   * elsewhere.
   */
  async look(): Promise<boolean> {
    const { partition, next, grounds, folded } = this.#options
    let isMoved = false
    for (const [topic, offset] of next) isMoved = (await this.#lookAt({ topic, partition, offset }, topic)) || isMoved
    await this.#recover(await grounds.lostOutputs((topic) => folded.row.inputs.includes(topic as TopicName)))
    return isMoved
  }

  /** Writes what was emitted since the last call. */
  async send(): Promise<void> {
    const { outputs, ports, folded, grounds } = this.#options
    await Promise.all(
      outputs.take().map(async ({ topic, partition, count, sends }) => {
        for (const records of sends) await this.#append(topic, partition, records)
        ports.meter.outputs(folded.row.name, topic, count)
      }),
    )
    await this.#recover(grounds.takeOverwritten())
  }

  /** Writes a snapshot. */
  async save(batch: readonly OutRecord[]): Promise<void> {
    const { folded, partition, grounds } = this.#options
    await this.#append(folded.row.state, partition, batch)
    await this.#recover(grounds.takeOverwritten())
  }

  async #append(topic: TopicName, partition: number, records: readonly OutRecord[]): Promise<void> {
    const { claim, grounds } = this.#options
    grounds.wrote(topic, partition, await claim.send(topic, partition, records), records)
  }

  async #lookAt(position: Position, topic: TopicName): Promise<boolean> {
    const { next, grounds, folded } = this.#options
    const lost = await grounds.look(position)
    if (lost === undefined) return false
    const gaps = folded.gapsOf(topic)
    if (!gaps.knows(position.offset, lost.next)) {
      folded.meet(await grounds.tell(position, lost, gaps.shiftBehind(position.offset, lost.next)))
    }
    next.set(topic, lost.next)
    await grounds.moveTo({ ...position, offset: lost.next })
    return true
  }

  /** Tells that outputs have lost their tails, and writes once more what the state still knows of what it wrote there. */
  async #recover(lost: readonly LostOutput[]): Promise<void> {
    if (lost.length === 0) return
    const { ports, grounds, folded, next, outputs } = this.#options
    const { row } = folded
    if (lost.some(({ topic }) => topic === row.state)) throw new Error('the log of the state has lost its tail')
    for (const output of lost) await grounds.tellOutput(output)
    const [input] = row.inputs
    outputs.time = ports.clock.now()
    for (const topic of new Set(lost.map((output) => output.topic as TopicName))) {
      folded.restate(topic, input === undefined ? 0 : (next.get(input) ?? 0), outputs.emit)
    }
    await this.send()
  }
}

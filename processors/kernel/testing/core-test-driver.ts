import type { Message } from '../../../schemas/records.ts'
import type { TopicName } from '../../../schemas/topics.ts'
import type { Output, Processor } from '../processor.ts'
import { versionOf } from '../version.ts'

/** A core by itself, one state, for its tests: feeds messages at offsets 0, 1, 2 and so on, and keeps what it emits. */
export class CoreTestDriver<State> {
  readonly core: Processor<State>
  readonly #topic: TopicName
  state: State
  readonly emitted: Output[] = []
  readonly #parts = new Map<string, Buffer>()
  #offset = 0
  #partitionTime = 0

  constructor(core: Processor<State>, topic: TopicName) {
    this.core = core
    this.#topic = topic
    this.state = core.empty()
  }

  /** Folds messages as one batch. */
  batch(...messages: readonly Message[]): this {
    for (const message of messages) {
      if (message.type === 'mark') this.#partitionTime = Math.max(this.#partitionTime, message.value.time)
      const offset = this.#offset++
      const context = { partition: 0, v: versionOf(1, offset), partitionTime: this.#partitionTime }
      this.core.apply(this.state, { topic: this.#topic, offset, time: 0, message }, context, this.#emit)
    }
    this.core.flush?.(this.state, this.#emit)
    return this
  }

  /** Saves what changed; gives the keys of it, gone ones behind a `-`. */
  save(): string[] {
    const keys: string[] = []
    for (const [key, part] of this.core.save(this.state)) {
      keys.push(part === null ? `-${key}` : key)
      if (part === null) this.#parts.delete(key)
      else this.#parts.set(key, part)
    }
    return keys.sort()
  }

  /** Goes on from what was saved, as after a restart. */
  restart(): this {
    this.save()
    this.state = this.core.load(this.#parts)
    return this
  }

  /** Bytes of everything that is saved. */
  get bytes(): number {
    return [...this.#parts].reduce((sum, [key, part]) => sum + key.length + part.length, 0)
  }

  /** Everything emitted since the last call. */
  take(): Output[] {
    return this.emitted.splice(0)
  }

  readonly #emit = (output: Output): void => {
    this.emitted.push(output)
  }
}

/** The values of one record type among outputs. */
export function only<Type extends Message['type']>(outputs: readonly Output[], type: Type): Of<Type>[] {
  return outputs.flatMap(({ message }) => (message !== null && isOf(message, type) ? [message.value as Of<Type>] : []))
}

type Of<Type extends Message['type']> = Extract<Message, { type: Type }>['value']

function isOf<Type extends Message['type']>(message: Message, type: Type): message is Extract<Message, { type: Type }> {
  return message.type === type
}

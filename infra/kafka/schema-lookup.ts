import avro from 'avsc'
import { hostClock } from '../clock.ts'

/** A registry may know a schema later than who reads its records: an id that it has not is asked for again this long. */
export const ABSENT_MS = 20_000
const ASK_EVERY_MS = 500
/** Then what was not there is taken for absent, and asked for once more after this long. */
export const FORGET_MS = 60_000
/** Ids that were not there; beyond, the memory starts anew. */
const REMEMBERED_MAX = 1_000

/** `foreign`: the registry has it, and it is no schema of ours. */
export type LookupResult = 'learned' | 'foreign' | 'absent'

/** The host's clock, handed in so that tests drive it. */
export type LookupClock = Pick<typeof hostClock, 'now' | 'delay'>

/**
 * Learns schema ids from the registry. What a registry does not have is asked for again for a bounded time, and its answer
 * counts for a bounded time: a record is passed over only where both have ended. Ids that come together share the time, so
 * that many which are nobody's hold nothing up for longer than one.
 */
export class SchemaLookup {
  readonly #learn: (id: number) => Promise<LookupResult>
  readonly #clock: LookupClock
  readonly #asking = new Map<number, Promise<boolean>>()
  /** By id, until when it is not asked for again, milliseconds. */
  readonly #absent = new Map<number, number>()
  #waitingSince = -Infinity

  constructor(learn: (id: number) => Promise<LookupResult>, clock: LookupClock = hostClock) {
    this.#learn = learn
    this.#clock = clock
  }

  /** Whether the id can be read now. Rejects where the registry does not answer. */
  ask(id: number): Promise<boolean> {
    if ((this.#absent.get(id) ?? -Infinity) > this.#clock.now()) return Promise.resolve(false)
    const asking = this.#asking.get(id) ?? this.#ask(id).finally(() => this.#asking.delete(id))
    this.#asking.set(id, asking)
    return asking
  }

  async #ask(id: number): Promise<boolean> {
    const until = this.#absent.has(id) ? -Infinity : this.#patience()
    for (;;) {
      const found = await this.#learn(id)
      if (found === 'learned') return true
      const now = this.#clock.now()
      if (found === 'foreign' || now >= until) {
        this.#remember(id, found === 'foreign' ? Infinity : now + FORGET_MS)
        return false
      }
      await this.#clock.delay(ASK_EVERY_MS)
    }
  }

  /** Until when an id that is new to us is waited for, milliseconds. */
  #patience(): number {
    const now = this.#clock.now()
    if (now >= this.#waitingSince + ABSENT_MS + FORGET_MS) this.#waitingSince = now
    return this.#waitingSince + ABSENT_MS
  }

  #remember(id: number, until: number): void {
    if (this.#absent.size >= REMEMBERED_MAX) this.#absent.clear()
    this.#absent.set(id, until)
  }
}

/**
 * Why records written by `writer` cannot be read by `reader` (both .avsc texts of records): the field and how to mend
 * it, in words. Undefined: they can be read.
 */
export function mismatch(reader: string, writer: string): string | undefined {
  const ours = avro.Type.forSchema(JSON.parse(reader) as avro.Schema)
  const theirs = avro.Type.forSchema(JSON.parse(writer) as avro.Schema)
  const problem = resolveProblem(ours, theirs)
  if (problem === undefined || !avro.Type.isType(ours, 'record') || !avro.Type.isType(theirs, 'record')) return problem
  return fieldProblem(ours as avro.types.RecordType, theirs as avro.types.RecordType) ?? problem
}

function fieldProblem(ours: avro.types.RecordType, theirs: avro.types.RecordType): string | undefined {
  for (const field of ours.fields) {
    const names = new Set([field.name, ...field.aliases])
    const old = theirs.fields.find(({ name }) => names.has(name))
    if (old === undefined) {
      // a field without a default has undefined there
      if (field.defaultValue() !== undefined) continue
      return `field ${field.name} is not in it; give the field a default, for example null`
    }
    if (resolveProblem(field.type, old.type) === undefined) continue
    const types = `${nameOf(old.type)} there and ${nameOf(field.type)} here`
    return `field ${field.name} is ${types}; keep its type, or add a field of another name with a default`
  }
  return undefined
}

function resolveProblem(ours: avro.Type, theirs: avro.Type): string | undefined {
  try {
    ours.createResolver(theirs)
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

function nameOf(type: avro.Type): string {
  return type.name ?? type.typeName.replace(/^union:.*/, 'a union')
}

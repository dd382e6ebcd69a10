import avro from 'avsc'
import { avroType, Codec, schemaText, UndecodableError, type RegisteredSchema } from '../../schemas/codec.ts'
import type { Message, RecordType } from '../../schemas/records.ts'
import { subjectOf, topics, type TopicName } from '../../schemas/topics.ts'
import { ask } from '../http/ask.ts'
import type { Logger } from '../log.ts'
import { SchemaLookup, type LookupResult, type LookupClock, mismatch } from './schema-lookup.ts'
import { Backoff } from './wire/retry.ts'

const CALL_MS = 5_000
/** A schema of ours has 2 KB. */
const ANSWER_BYTES_MAX = 4_000_000
/** A registry that starts together with us is waited for. */
const LOAD_MS = 60_000
/**
 * Asked for by one process at a time. Of all at once, by all processes of a start, a slow registry answers none within the
 * deadline of a call, and works on in vain for those that were given up.
 */
const LOADED_AT_ONCE = 4
const LOOK_UP_MS = 10_000
const VERSIONS_MAX = 1_000

/** Answers that no later try will change: not authorised, forbidden, not a schema. */
const FINAL_STATUS = new Set<unknown>([401, 403, 422])

/** A schema that the registry cannot take or give: the message says which, why and what to do. */
export class SchemaError extends Error {
  readonly code: 'incompatible' | 'refused' | 'unavailable'
  constructor(code: SchemaError['code'], message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

/** One schema as it is registered. */
export interface SubjectSchema {
  readonly subject: string
  /** The .avsc text. */
  readonly text: string
}

/** A codec that can learn schema ids which it did not register itself. */
export class RegistryCodec extends Codec {
  readonly #lookUp: SchemaLookup
  readonly #log: Logger | undefined

  constructor(
    schemas: readonly RegisteredSchema[],
    registry: Pick<Registry, 'schemaOf'>,
    { clock, log }: { readonly clock?: LookupClock; readonly log?: Logger | undefined } = {},
  ) {
    super(schemas)
    this.#log = log
    this.#lookUp = new SchemaLookup(async (id) => this.#learn(id, await registry.schemaOf(id)), clock)
  }

  /**
   * Asks the registry for a schema id and makes it readable. False: there is no such id although it was waited for, or it
   * is no record of ours. Rejects with `SchemaError` when the registry does not answer.
   */
  lookUp(id: number): Promise<boolean> {
    return this.#lookUp.ask(id)
  }

  /** As `decode`, but a schema id that is not known is asked of the registry once. Throws `UndecodableError`. */
  async read(bytes: Buffer): Promise<Message> {
    try {
      return this.decode(bytes)
    } catch (error) {
      if (!(error instanceof UndecodableError) || error.code !== 'unknown-schema') throw error
      if (!(await this.lookUp(error.schemaId))) throw error
      return this.decode(bytes)
    }
  }

  /** Makes readable what other releases have registered: for whoever decodes without asking. */
  learn(schemas: readonly { readonly id: number; readonly text: string }[]): void {
    for (const { id, text } of schemas) if (!this.knows(id)) this.#learn(id, text)
  }

  #learn(id: number, writer: string | undefined): LookupResult {
    if (writer === undefined) return 'absent'
    try {
      const { name } = avro.Type.forSchema(JSON.parse(writer) as avro.Schema)
      const owner = subjects().find(({ record }) => avroType(record).name === name)
      if (owner === undefined) return 'foreign'
      this.add({ id, topic: owner.topic, record: owner.record, writer })
      return 'learned'
    } catch (error) {
      this.#log?.error(
        { schemaId: id, err: error },
        'a schema of the registry cannot be used: what was written with it is set aside',
      )
      return 'foreign'
    }
  }
}

/**
 * Finds every record type of every topic in the registry, or registers it under BACKWARD_TRANSITIVE, and gives a codec with
 * the ids. Throws `SchemaError`: `incompatible` names the subject, the field and the way out.
 */
export async function loadCodec(registryUrl: string, log?: Logger): Promise<RegistryCodec> {
  const registry = new Registry(registryUrl)
  const schemas: RegisteredSchema[] = []
  const left = subjects().entries()
  const load = async (): Promise<void> => {
    for (const [index, { topic, record }] of left) {
      const id = await registry.register({ subject: subjectOf(topic, record), text: schemaText(record) })
      schemas[index] = { id, topic, record }
    }
  }
  await Promise.all(Array.from({ length: LOADED_AT_ONCE }, load))
  return new RegistryCodec(schemas, registry, { log })
}

const shared = new Map<string, Promise<RegistryCodec>>()

/** As `loadCodec`, but one for all who ask in this process; after a failure the next one tries again. */
export function sharedCodec(registryUrl: string): Promise<RegistryCodec> {
  const known = shared.get(registryUrl)
  if (known !== undefined) return known
  const loading = loadCodec(registryUrl)
  shared.set(registryUrl, loading)
  loading.catch(() => shared.delete(registryUrl))
  return loading
}

function subjects(): { topic: TopicName; record: RecordType }[] {
  return topics.flatMap((topic) => topic.records.map((record) => ({ topic: topic.name, record })))
}

/** The few calls that we make to a schema registry, each with a deadline and a limit of tries. Never one per message. */
export class Registry {
  readonly #url: string
  readonly #loadMs: number
  readonly #lookUpMs: number

  constructor(url: string, { loadMs = LOAD_MS, lookUpMs = LOOK_UP_MS } = {}) {
    this.#url = url
    this.#loadMs = loadMs
    this.#lookUpMs = lookUpMs
  }

  /** The id of the schema under its subject, after it was registered where it is new. */
  register(schema: SubjectSchema): Promise<number> {
    return this.#trying(this.#loadMs, async () => (await this.#find(schema)) ?? (await this.#add(schema)))
  }

  /** The id of a schema that its subject has: all that a process asks when others have started before it. */
  async #find({ subject, text }: SubjectSchema): Promise<number | undefined> {
    try {
      const found = await this.#call('POST', `/subjects/${encodeURIComponent(subject)}`, { schema: text })
      return (found as { id: number }).id
    } catch (error) {
      if (statusOf(error) === 404) return undefined
      throw error
    }
  }

  /** Sets the level before the first version is there, so that no version is ever taken unchecked. */
  async #add(schema: SubjectSchema): Promise<number> {
    // Loaded here: 130 modules, which a process that finds all schemas registered does without.
    const { SchemaRegistry, COMPATIBILITY, SchemaType } = await import('@kafkajs/confluent-schema-registry')
    const client = new SchemaRegistry({
      host: this.#url,
      retry: { retries: 0 },
      middlewares: [() => ({ prepareRequest: async (next) => (await next()).enhance({ timeout: CALL_MS }) })],
    })
    const { subject, text } = schema
    const compatibility = COMPATIBILITY.BACKWARD_TRANSITIVE
    await this.#call('PUT', `/config/${encodeURIComponent(subject)}`, { compatibility })
    try {
      const { id } = await client.register({ type: SchemaType.AVRO, schema: text }, { subject, compatibility })
      return id
    } catch (error) {
      throw statusOf(error) === 409 ? await this.#incompatible(schema, error) : error
    }
  }

  /** The text of an Avro schema by its id; undefined where the registry has none. */
  schemaOf(id: number): Promise<string | undefined> {
    return this.#trying(this.#lookUpMs, () => this.#textAt(`/schemas/ids/${id}`))
  }

  async #textAt(path: string): Promise<string | undefined> {
    try {
      const { schema, schemaType = 'AVRO' } = (await this.#call('GET', path)) as { schema: string; schemaType?: string }
      return schemaType === 'AVRO' ? schema : undefined
    } catch (error) {
      if (statusOf(error) === 404) return undefined
      throw error
    }
  }

  /** Rejects with the `status` of an answer that is none. */
  async #call(method: 'GET' | 'POST' | 'PUT', path: string, body?: object): Promise<unknown> {
    const { status, text } = await ask(this.#url + path, {
      method,
      headers: { 'content-type': 'application/vnd.schemaregistry.v1+json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      withinMs: CALL_MS,
      bytesMax: ANSWER_BYTES_MAX,
    })
    if (status < 200 || status > 299) throw Object.assign(new Error(`${method} ${path}: ${status}`), { status })
    return JSON.parse(text)
  }

  async #incompatible({ subject, text }: SubjectSchema, cause: unknown): Promise<SchemaError> {
    for (let version = 1; version <= VERSIONS_MAX; version += 1) {
      const path = `/subjects/${encodeURIComponent(subject)}/versions/${version}`
      const old = await this.#textAt(path).catch(() => undefined)
      const reason = old === undefined ? undefined : mismatch(text, old)
      if (reason !== undefined) {
        return new SchemaError('incompatible', `${subject}: the schema cannot read version ${version}: ${reason}`, {
          cause,
        })
      }
      if (old === undefined) break
    }
    return new SchemaError('incompatible', `${subject}: the registry refuses the schema: ${textOf(cause)}`, { cause })
  }

  async #trying<Result>(withinMs: number, attempt: () => Promise<Result>): Promise<Result> {
    const deadline = Date.now() + withinMs
    const backoff = new Backoff()
    for (;;) {
      try {
        return await attempt()
      } catch (error) {
        if (error instanceof SchemaError) throw error
        if (FINAL_STATUS.has(statusOf(error))) {
          throw new SchemaError('refused', `the schema registry at ${this.#url} refuses: ${textOf(error)}`, {
            cause: error,
          })
        }
        if (Date.now() > deadline) {
          const message = `the schema registry at ${this.#url} did not do it in ${withinMs} ms: ${textOf(error)}`
          throw new SchemaError('unavailable', message, { cause: error })
        }
      }
      await backoff.wait()
    }
  }
}

function statusOf(error: unknown): unknown {
  return (error as { status?: unknown }).status
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

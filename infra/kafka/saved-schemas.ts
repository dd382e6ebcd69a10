import { Registry, SchemaError } from './codec.ts'

const CALL_MS = 10_000
/** What stands where another registry gave an id to what is no more. */
const FILLER = 'restore.filler'
const GAP_MAX = 10_000

/** A schema as a registry has it. Records carry its id. */
export interface SavedSchema {
  readonly id: number
  readonly subject: string
  readonly text: string
}

/** Every version of every subject with its id, by id. */
export async function readSchemas(registryUrl: string): Promise<SavedSchema[]> {
  const ask = async (path: string): Promise<unknown> => {
    const response = await fetch(registryUrl + path, { signal: AbortSignal.timeout(CALL_MS) })
    if (!response.ok) throw new SchemaError('unavailable', `${registryUrl}${path}: ${response.status}`)
    return response.json()
  }
  const schemas: SavedSchema[] = []
  for (const subject of (await ask('/subjects')) as string[]) {
    const at = `/subjects/${encodeURIComponent(subject)}/versions`
    for (const version of (await ask(at)) as number[]) {
      const { id, schema } = (await ask(`${at}/${version}`)) as { id: number; schema: string }
      schemas.push({ id, subject, text: schema })
    }
  }
  return schemas.toSorted((a, b) => a.id - b.id)
}

/**
 * Registers schemas in a registry that has none, in the order of their ids, so that each gets the id that records carry;
 * an id that nobody has any more gets a filler. Throws `SchemaError` where the registry counts otherwise.
 */
export async function writeSchemas(registryUrl: string, schemas: readonly SavedSchema[]): Promise<void> {
  const registry = new Registry(registryUrl)
  const byId = [...Map.groupBy(schemas, ({ id }) => id).values()].toSorted((a, b) => (a[0]?.id ?? 0) - (b[0]?.id ?? 0))
  let next = 1
  for (const [first] of byId) {
    if (first === undefined) continue
    if (first.id - next > GAP_MAX)
      throw new SchemaError('refused', `the saved ids are too far apart to be given again: ${next}, ${first.id}`)
    for (; next < first.id; next += 1) await give(registry, fillerOf(next))
    await give(registry, first)
    next += 1
  }
  // a text that the registry has keeps its id, but may use one up
  for (const [, ...others] of byId) for (const schema of others) await give(registry, schema)
}

async function give(registry: Registry, { id, subject, text }: SavedSchema): Promise<void> {
  const given = await registry.register({ subject, text })
  if (given === id) return
  throw new SchemaError(
    'refused',
    `the registry gave ${subject} the id ${given}, records carry ${id}: restore into an empty registry`,
  )
}

function fillerOf(id: number): SavedSchema {
  const text = JSON.stringify({ type: 'record', name: `filler_${id}`, fields: [] })
  return { id, subject: `${FILLER}-${id}`, text }
}

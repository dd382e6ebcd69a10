import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { Link } from '../wire/internals.ts'
import { initProducer } from '../wire/writer.ts'

const LOOK_EVERY_MS = 500
const LOOKS_MAX = 120

/**
 * Resolves when the broker (a single node) has forgotten every owner that gave no sign since the call. A look is a sign
 * as well, so that each is at an owner of its own.
 */
export async function forgotten(brokers: readonly string[]): Promise<void> {
  const link = new Link({ brokers, clientId: 'test' })
  try {
    const owners = Array.from({ length: LOOKS_MAX }, () => randomUUID())
    for (const owner of owners) await initProducer(link, 'any', owner)
    for (const owner of owners) {
      const { epoch } = await initProducer(link, 'any', owner)
      if (epoch === 0) return
      await delay(LOOK_EVERY_MS)
    }
    throw new Error(`the broker remembers owners for longer than ${LOOKS_MAX * LOOK_EVERY_MS} ms`)
  } finally {
    await link.close()
  }
}

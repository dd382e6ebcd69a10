import { randomInt } from 'node:crypto'
import { reservePort } from './ports.ts'

/**
 * Below the range from which the system takes the ports of outgoing connections: a client that keeps calling a stopped
 * part on a port of that range ends up connected to itself, and the part can never listen there again.
 */
const FIRST = 20_000
const LAST = 32_000
const TRIES = 100

/** `count` different free ports on loopback. They are not held: whoever needs one takes it soon. */
export async function freePorts(count: number): Promise<number[]> {
  const found = new Set<number>()
  for (let tries = 0; found.size < count; tries++) {
    if (tries === TRIES * count) throw new Error(`no ${count} free ports between ${FIRST} and ${LAST}`)
    const port = randomInt(FIRST, LAST)
    const free = await reservePort(port, 'a part').then(
      () => true,
      () => false,
    )
    if (free) found.add(port)
  }
  return [...found]
}

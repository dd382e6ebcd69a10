import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

const HOST = '127.0.0.1'
/**
 * Below the range from which the system takes the ports of outgoing connections: a client that keeps calling a stopped
 * part on a port of that range ends up connected to itself, and the part can never listen there again.
 */
const FIRST = 20_000
const LAST = 32_000
const TRIES = 100
const STARTS_MAX = 3

const given = new Set<number>()

/** The port itself, or a free one for 0. Throws where it is taken: the message names it and who wanted it. */
export async function reservePort(port: number, wantedBy: string): Promise<number> {
  if (port === 0) return freePort()
  await listenOnce(port).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EADDRINUSE') throw error
    throw new Error(`${wantedBy}: port ${port} on ${HOST} is in use`, { cause: error })
  })
  return port
}

/** `count` different free ports on loopback. They are not held: whoever needs one takes it soon. */
export async function freePorts(count: number): Promise<number[]> {
  const found: number[] = []
  while (found.length < count) found.push(await freePort())
  return found
}

/**
 * Starts a part on its ports, in their order (0: any free one; `wantedBy` names them in errors).
 *
 * Nobody holds a port between the look at it and the part's own listening. Where another process took it meanwhile the
 * part fails at once and is started again: on other free ports, or with the error that names the one it must have.
 */
export async function startOnPorts<T>(
  asked: Readonly<Record<string, number>>,
  start: (...ports: number[]) => Promise<T>,
): Promise<T> {
  for (let starts = 1; ; starts++) {
    const ports: number[] = []
    for (const [wantedBy, port] of Object.entries(asked)) ports.push(await reservePort(port, wantedBy))
    try {
      return await start(...ports)
    } catch (error) {
      if (starts === STARTS_MAX || (await areFree(ports))) throw error
    }
  }
}

/** A free port that this process was not given before, since who got it may not listen yet. */
async function freePort(): Promise<number> {
  for (let tries = 0; tries < TRIES; tries++) {
    const port = randomInt(FIRST, LAST)
    if (given.has(port) || !(await areFree([port]))) continue
    given.add(port)
    return port
  }
  throw new Error(`no free port between ${FIRST} and ${LAST} in ${TRIES} tries`)
}

async function areFree(ports: readonly number[]): Promise<boolean> {
  const looks = await Promise.allSettled(ports.map(listenOnce))
  return looks.every((look) => look.status === 'fulfilled')
}

async function listenOnce(port: number): Promise<void> {
  const server = createServer()
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, HOST, () => server.close(() => resolve()))
  })
}

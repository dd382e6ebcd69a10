import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { Caller } from './agent.ts'
import {
  append,
  Certificates,
  dispatch,
  senderTo,
  startReceiver,
  status,
  triggerTo,
  type Answering,
  type Receiver,
} from './testing/world.ts'

/** Good receivers, and triggers to each of them, a few at a time as a market brings them. */
const GOOD = 5
const STEPS = 40
const STEP_MS = 25
/** A busy machine disturbs a round: the first that shows what is claimed is enough. */
const ROUNDS_MAX = 20
const RATIO_MAX = 2
/** Below it a difference is the machine's, not the dispatcher's, milliseconds. */
const NOISE_MS = 12

const bad: Readonly<Record<string, Answering>> = {
  'never answers': () => undefined,
  'fails at once': status(500),
  'resets the connection': (request) => void request.socket.destroy(),
  'sends without an end': (_, response) => {
    response.writeHead(200)
    const more = (): void => {
      while (!response.destroyed && response.write(Buffer.alloc(16_384)));
    }
    response.on('drain', more)
    more()
  },
}

const certificates = new Certificates()

beforeAll(() => certificates.make())
afterAll(() => certificates.remove())

it.each(Object.entries(bad))(
  'a receiver that %s does not delay the others: their p99 is at most twice as high',
  async (name, answer) => {
    let ratio = Infinity
    let said = ''
    for (let round = 0; round < ROUNDS_MAX && ratio > RATIO_MAX; round++) {
      const alone = await p99(undefined)
      const beside = await p99(answer)
      ratio = Math.max(beside, NOISE_MS) / Math.max(alone, NOISE_MS)
      said += ` ${alone} -> ${beside}`
    }
    console.log(`p99 of ${GOOD} receivers beside one that ${name}, ms:${said}`)
    expect(ratio).toBeLessThanOrEqual(RATIO_MAX)
  },
  240_000,
)

/** Milliseconds from a trigger in the log to its webhook at a good receiver. */
async function p99(answer: Answering | undefined): Promise<number> {
  const caller = new Caller(certificates.authorities)
  const good = await Promise.all(
    Array.from({ length: GOOD }, () => startReceiver(certificates.of('good'), status(204))),
  )
  const others = answer === undefined ? [] : [await startReceiver(certificates.of('good'), answer)]
  const { broker, dispatcher } = dispatch(senderTo(caller, { deadlineMs: 8_000 }))
  const appended = new Map<string, number>()
  const ring = (n: string, { url }: Receiver): void => {
    const alert = `alert_btc_1_${n}`
    appended.set(`${alert}_1`, Date.now())
    append(broker, triggerTo(url, { alert_id: alert, trigger_id: `${alert}_1` }))
  }
  for (const [index, receiver] of good.entries()) ring(`first_${index}`, receiver) // connections are made
  await expect.poll(() => good.every(({ got }) => got.length === 1), { timeout: 60_000 }).toBe(true)
  for (let step = 0; step < STEPS; step++) {
    for (const [index, receiver] of good.entries()) ring(`${step}_${index}`, receiver)
    for (const receiver of others) ring(`${step}_bad`, receiver)
    await delay(STEP_MS)
  }
  await expect
    .poll(() => good.every(({ got }) => new Set(got.map(({ id }) => id)).size === STEPS + 1), {
      timeout: 60_000,
      interval: 10,
    })
    .toBe(true)
  const latencies = good.flatMap(({ got }) => got.slice(1).map(({ id, at }) => at - (appended.get(id) ?? 0)))
  await Promise.all([...good, ...others].map((receiver) => receiver.close()))
  await dispatcher.stop()
  caller.close()
  return latencies.sort((a, b) => a - b)[Math.floor(latencies.length * 0.99)] ?? 0
}

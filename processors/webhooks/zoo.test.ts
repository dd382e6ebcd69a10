import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { closeServer } from '../../infra/http/ops.ts'
import { Caller, type Resolve } from './agent.ts'
import type { Result } from './attempt.ts'
import {
  Certificates,
  senderTo,
  startReceiver,
  status,
  triggerTo,
  type Answering,
  type Receiver,
  type SenderChoice,
} from './testing/world.ts'

/** Receivers of every kind, as they are met on the internet; each on this machine. */

/** Long enough for a busy machine to answer. */
const DEADLINE_MS = 20_000
/** A test waits for their end; a busy machine needs a longer one until the head of an answer has come. */
const SHORT_MS = [300, 1_000, 3_000] as const
const certificates = new Certificates()
const receivers: Receiver[] = []
let caller: Caller

beforeAll(async () => {
  await certificates.make()
  caller = new Caller(certificates.authorities)
})

afterEach(async () => {
  await Promise.all(receivers.splice(0).map((receiver) => receiver.close()))
})

afterAll(() => {
  caller.close()
  certificates.remove()
})

async function receiver(answer: Answering, host?: string, which: 'good' | 'expired' = 'good'): Promise<Receiver> {
  const started = await startReceiver(certificates.of(which), answer, host)
  receivers.push(started)
  return started
}

function attempt(url: string, choice: SenderChoice = {}, number = 1): Promise<Result> {
  return senderTo(caller, { deadlineMs: DEADLINE_MS, ...choice })(triggerTo(url), number, () => undefined)
}

/** As soon as the head of the answer has come before a deadline. */
async function attemptUntilHeard(url: string): Promise<Result | undefined> {
  let result: Result | undefined
  for (const deadlineMs of SHORT_MS) {
    result = await attempt(url, { deadlineMs })
    if (result.status !== null) break
  }
  return result
}

const never: Answering = () => undefined
const slowly: Answering = (_, response) => void setTimeout(() => response.end('ok'), 300)
const reset: Answering = (request) => void request.socket.destroy()
const resetInBody: Answering = (request, response) => {
  response.writeHead(200, { 'content-length': '1000' }).write('half')
  setTimeout(() => request.socket.destroy(), 20)
}
const drops: Answering = (_, response) => {
  response.writeHead(200)
  const timer = setInterval(() => response.write('.'), 100)
  response.once('close', () => clearInterval(timer))
}
const endless: Answering = (_, response) => {
  response.writeHead(200)
  const more = (): void => {
    while (!response.destroyed && response.write(Buffer.alloc(16_384)));
  }
  response.on('drain', more)
  more()
}
const failsAndHangs: Answering = (_, response) => void response.writeHead(503).write('sorry')
const switches: Answering = (request) =>
  void request.socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n')
const nonsense: Answering = (request) => void request.socket.end('this is not HTTP\r\n\r\n')

describe('a receiver that answers', () => {
  it.each([
    [200, { is: 'delivered', isCut: false }],
    [204, { is: 'delivered', isCut: false }],
    [410, { is: 'failed', error: 'gone' }],
    [400, { is: 'failed', error: 'status' }],
    [500, { is: 'failed', error: 'status' }],
    [504, { is: 'failed', error: 'status' }],
  ])('%d is %o', async (code, outcome) => {
    const { url } = await receiver(status(code))
    expect(await attempt(url)).toMatchObject({ status: code, ...outcome })
  })

  it('301 is not followed, not even to an address inside', async () => {
    const inside = await receiver(status(200))
    const { url } = await receiver(status(301, { location: inside.url }))
    expect(await attempt(url)).toMatchObject({ status: 301, is: 'failed', error: 'redirect' })
    expect(inside.got).toEqual([])
  })

  it('429 says how long it wants to be left alone', async () => {
    const { url } = await receiver(status(429, { 'retry-after': '7' }))
    expect(await attempt(url)).toMatchObject({ status: 429, error: 'status', retryAfterSeconds: 7 })
  })

  it('slowly, within the deadline, has it', async () => {
    const { url } = await receiver(slowly)
    expect(await attempt(url)).toMatchObject({ is: 'delivered' })
  })

  it('has what tells of an asset whose name is not ASCII', async () => {
    const { url, got } = await receiver(status(200))
    const trigger = triggerTo(url, { trigger_id: 'alert_all_1786060800_1.a0.币安人生_1' })
    expect(await senderTo(caller)(trigger, 1, () => undefined)).toMatchObject({ is: 'delivered' })
    expect(got.map(({ id }) => decodeURIComponent(id))).toEqual([trigger.trigger_id])
  })

  it('at an IPv6 address has it, under the literal and under a name', async () => {
    const { url, port } = await receiver(status(200), '::1')
    expect(await attempt(url)).toMatchObject({ is: 'delivered' })
    // by name alone, 127.0.0.1 would be dialled first, where another test may listen
    const resolve: Resolve = () => Promise.resolve(['::1'])
    expect(await attempt(`https://localhost:${port}/hook`, { resolve })).toMatchObject({ is: 'delivered' })
  })

  it('keeps its connection for the next', async () => {
    const { url, server } = await receiver(status(200))
    let connections = 0
    server.on('secureConnection', () => (connections += 1))
    for (let n = 0; n < 5; n++) expect(await attempt(url)).toMatchObject({ is: 'delivered' })
    expect(connections).toBe(1)
  })

  it('and has closed a kept connection meanwhile gets it over a new one', async () => {
    const { url, server, got } = await receiver(status(200))
    await attempt(url)
    server.closeAllConnections()
    expect(await attempt(url)).toMatchObject({ is: 'delivered' })
    expect(got).toHaveLength(2)
  })

  it('and has forgotten all that were kept gets it over a new one at once', async () => {
    const kept = new Set<unknown>()
    const waiting: (() => void)[] = []
    const { url } = await receiver((request, response) => {
      if (kept.has(request.socket)) return void request.socket.destroy()
      waiting.push(() => {
        kept.add(request.socket)
        response.end('ok')
      })
      if (kept.size + waiting.length >= 4) for (const end of waiting.splice(0)) end()
    })
    expect(await Promise.all(Array.from({ length: 4 }, () => attempt(url)))).toHaveLength(4)
    expect(await attempt(url)).toMatchObject({ is: 'delivered' })
  })
})

describe('a receiver that', () => {
  it.each([
    ['sends without an end', endless, { is: 'delivered', isCut: true, status: 200 }],
    ['resets the connection', reset, { is: 'failed', error: 'reset', status: null }],
    ['resets it in the middle of the body', resetInBody, { is: 'failed', error: 'reset', status: 200 }],
    ['switches protocols', switches, { is: 'failed', error: 'status', status: 101 }],
    ['does not speak HTTP', nonsense, { is: 'failed', error: 'protocol', status: null }],
  ])('%s', async (_, answer, outcome) => {
    const { url } = await receiver(answer)
    expect(await attempt(url)).toMatchObject(outcome)
  })

  it('never answers', async () => {
    const { url } = await receiver(never)
    const [deadlineMs] = SHORT_MS
    expect(await attempt(url, { deadlineMs })).toMatchObject({ is: 'failed', error: 'timeout', status: null })
  })

  it.each([
    ['sends one byte after the other', drops, { is: 'failed', error: 'timeout', status: 200 }],
    ['fails and never ends its answer', failsAndHangs, { is: 'failed', error: 'status', status: 503 }],
  ])('%s', async (_, answer, outcome) => {
    const { url } = await receiver(answer)
    expect(await attemptUntilHeard(url)).toMatchObject(outcome)
  })

  it('is called by what does not end with the deadline', async () => {
    const stuck = { post: () => new Promise<never>(() => undefined) }
    const result = senderTo(stuck, { deadlineMs: SHORT_MS[0] })(triggerTo('https://localhost/'), 1, () => undefined)
    expect(await result).toMatchObject({ is: 'failed', error: 'timeout', status: null })
  })

  it('has an expired certificate is not told anything', async () => {
    const { url, got } = await receiver(status(200), '127.0.0.1', 'expired')
    expect(await attempt(url)).toMatchObject({ is: 'failed', error: 'tls', status: null })
    expect(got).toEqual([])
  })

  it('has a certificate of another name is not told anything', async () => {
    const { port, got } = await receiver(status(200))
    const resolve: Resolve = () => Promise.resolve(['127.0.0.1'])
    expect(await attempt(`https://other.example.com:${port}/`, { resolve })).toMatchObject({ error: 'tls' })
    expect(got).toEqual([])
  })

  it('is not there', async () => {
    const { url, server } = await receiver(status(200))
    await closeServer(server)
    expect(await attempt(url)).toMatchObject({ is: 'failed', error: 'refused', status: null })
  })

  it('has a name that no server knows, or whose name server does not answer', async () => {
    const url = 'https://hook.example.com/'
    expect(await attempt(url, { resolve: () => Promise.resolve([]) })).toMatchObject({ error: 'dns' })
    const silent: Resolve = () => new Promise(() => undefined)
    expect(await attempt(url, { resolve: silent, deadlineMs: SHORT_MS[0] })).toMatchObject({ error: 'timeout' })
  })

  it('has a URL that was sealed under another secret', async () => {
    const trigger = { ...triggerTo('https://hook.example.com/'), alert_id: 'alert_btc_1_2' }
    const result = await senderTo(caller)(trigger, 1, () => undefined)
    expect(result).toMatchObject({ is: 'failed', error: 'url_unreadable', status: null })
  })
})

describe('an address that no webhook may reach', () => {
  it.each([
    ['127.0.0.1', 'public'],
    ['169.254.169.254', 'loopback'],
    ['::ffff:10.0.0.1', 'loopback'],
    ['10.0.0.1', 'loopback'],
    ['fd00::1', 'loopback'],
  ] as const)('is refused where a name leads to %s', async (address, reach) => {
    const resolve: Resolve = () => Promise.resolve(['1.1.1.1', address])
    expect(await attempt('https://hook.example.com/', { resolve, reach })).toMatchObject({ error: 'private_address' })
  })

  it.each([
    ['https://2130706433/'],
    ['https://0177.0.0.1/'],
    ['https://0x7f.1/'],
    ['https://[::ffff:127.0.0.1]/'],
    ['https://[::1]/'],
    ['https://169.254.169.254/latest/meta-data/'],
  ])('is refused as the literal %s', async (url) => {
    expect(await attempt(url, { reach: 'public' })).toMatchObject({ error: 'private_address', status: null })
  })

  it('is not dialled where a name changes between the check and the call', async () => {
    const { port, got } = await receiver(status(200), '127.0.0.1')
    const asked: string[] = []
    const resolve: Resolve = (name) => {
      asked.push(name)
      return Promise.resolve([asked.length === 1 ? '127.0.0.1' : '10.0.0.1'])
    }
    const url = `https://localhost:${port}/`
    expect(await attempt(url, { resolve })).toMatchObject({ is: 'delivered' })
    expect(asked).toEqual(['localhost'])
    expect(got.map(({ address }) => address)).toEqual(['127.0.0.1'])
    expect(await attempt(url, { resolve })).toMatchObject({ error: 'private_address' })
    expect(got).toHaveLength(1)
  })
})

it('tries a name’s next address only where the one before takes no connection', async () => {
  const { port, got } = await receiver(status(200), '127.0.0.1')
  const resolve: Resolve = () => Promise.resolve(['127.0.0.2', '127.0.0.1'])
  expect(await attempt(`https://localhost:${port}/`, { resolve })).toMatchObject({ is: 'delivered' })
  expect(got.map(({ address }) => address)).toEqual(['127.0.0.1'])
})

it('tries three addresses of a name at one attempt, and begins the next attempt further on', async () => {
  const { port, got } = await receiver(status(200), '127.0.0.1')
  const resolve: Resolve = () => Promise.resolve(['127.0.0.2', '127.0.0.3', '127.0.0.4', '127.0.0.1'])
  expect(await attempt(`https://localhost:${port}/`, { resolve })).toMatchObject({ error: 'refused' })
  expect(await attempt(`https://localhost:${port}/`, { resolve }, 2)).toMatchObject({ is: 'delivered' })
  expect(got.map(({ address }) => address)).toEqual(['127.0.0.1'])
})

import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import { privateKeyToAccount } from 'viem/accounts'
import { afterEach, describe, expect, it } from 'vitest'
import { closeServer, listen } from '../../infra/http/ops.ts'
import { payer, payTo } from '../../infra/local/chain/accounts.ts'
import { challengeOf, decodeHeader, encodeHeader } from '../../processors/payments/wire/headers.ts'
import { networks, type Seller } from '../../processors/payments/wire/offer.ts'
import { buy, type Bought, readOffer } from './buy.ts'

const network = networks.find(({ chainId }) => chainId === 84_532)
if (network === undefined) throw new Error('no test network')
const { address: asset, name: assetName, version: assetVersion } = network.usdc
const seller: Seller = { network, asset, assetName, assetVersion, payTo, maxTimeoutSeconds: 300 }
const resource = { url: 'https://api.example.com/cvd/BTC', description: 'Volume delta', mimeType: 'application/json' }
const challenge = challengeOf(seller, '20000', resource, 'payment_required')
const body = JSON.stringify(challenge.body)

describe('an offer', () => {
  it.each([1, 2] as const)('of version %i is read off one and the same 402', (version) => {
    const read = readOffer(version, challenge.header, body)
    expect(read).toMatchObject({ offer: { version, asset, payTo, amount: 20_000n, timeoutSeconds: 300 } })
  })

  it.each<[string, object]>([
    ['of a network we do not know', { network: 'eip155:1' }],
    ['of another scheme', { scheme: 'upto' }],
    ['whose amount is a number', { amount: 20_000 }],
    ['without the name of its token', { extra: {} }],
  ])('%s is not paid', (_what, change) => {
    const read = decodeHeader(challenge.header)
    const required = 'object' in read ? (read.object as { accepts: object[] }) : { accepts: [] }
    const header = encodeHeader({ ...required, accepts: required.accepts.map((offer) => ({ ...offer, ...change })) })
    expect(readOffer(2, header, '')).toEqual({ fault: expect.stringContaining('no offer that can be paid') })
  })
})

describe('a purchase', () => {
  let server: Server | undefined
  afterEach(async () => {
    if (server !== undefined) await closeServer(server)
  })

  const purchase = async (
    answer: RequestListener,
    { max = 1_000_000n, ...more }: { max?: bigint; show?: (text: string) => void } = {},
  ): Promise<Bought> => {
    server = createServer(answer)
    const port = await listen(server, '127.0.0.1', 0)
    return buy({
      url: `http://127.0.0.1:${port}/cvd/BTC`,
      method: 'GET',
      body: undefined,
      version: 2,
      account: privateKeyToAccount(payer.key),
      agree: ({ amount }) => {
        if (amount > max) throw new Error('too dear')
      },
      say: () => undefined,
      nowSeconds: () => 1_795_000_000,
      nonce: () => `0x${'7'.repeat(64)}`,
      ...more,
    })
  }
  const paymentOf = ({ headers }: IncomingMessage): string => String(headers['payment-signature'] ?? '')
  const ask: RequestListener = (_request, response) =>
    void response.writeHead(402, { 'payment-required': challenge.header }).end(body)

  it('sends one and the same payment until its outcome is known, over a lost connection too', async () => {
    const seen: string[] = []
    const keys: unknown[] = []
    const bought = await purchase((request, response) => {
      const payment = paymentOf(request)
      if (payment === '') return ask(request, response)
      seen.push(payment)
      keys.push(request.headers['idempotency-key'])
      if (seen.length === 1) return void request.socket.destroy()
      if (seen.length < 4)
        return void response.writeHead(seen.length === 2 ? 503 : 429, { 'retry-after': '0.1' }).end('{}')
      response.writeHead(200, { 'payment-response': encodeHeader({ success: true }) }).end('the answer')
    })
    expect(bought).toMatchObject({ status: 200, text: 'the answer', receipt: { success: true } })
    expect(seen).toHaveLength(4)
    expect(new Set(seen).size).toBe(1)
    expect([keys[0], new Set(keys).size]).toEqual([expect.stringMatching(/^[0-9a-f-]{36}$/), 1])
  })

  it.each(['free', 'paid'])('of a stream that is %s shows it as it comes', async (kind) => {
    const shown: string[] = []
    const first = Promise.withResolvers<void>()
    const stream: RequestListener = (request, response) => {
      if (kind === 'paid' && paymentOf(request) === '') return ask(request, response)
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write('event: price\n\n')
      void first.promise.then(() => response.end('event: end\n\n'))
    }
    const show = (text: string): void => {
      shown.push(text)
      first.resolve()
    }
    const bought = await purchase(stream, { show })
    expect([bought.status, bought.text]).toEqual([200, ''])
    expect(shown).toEqual(['event: price\n\n', 'event: end\n\n'])
  })

  it('of what is free pays nothing', async () => {
    const bought = await purchase((_request, response) => void response.end('free'))
    expect(bought).toEqual({ status: 200, text: 'free', offer: undefined, receipt: undefined })
  })

  it('that is not agreed to is never signed', async () => {
    const payments: string[] = []
    const asked = purchase(
      (request, response) => {
        payments.push(paymentOf(request))
        ask(request, response)
      },
      { max: 19_999n },
    )
    await expect(asked).rejects.toThrow('too dear')
    expect(payments).toEqual([''])
  })

  it('that is refused is not paid for a second time', async () => {
    const payments: string[] = []
    const bought = await purchase((request, response) => {
      payments.push(paymentOf(request))
      ask(request, response)
    })
    expect(bought.status).toBe(402)
    expect(payments).toHaveLength(2)
  })
})

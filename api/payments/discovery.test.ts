import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { apiKinds } from '../alerts/kinds/kinds.ts'
import { routes } from '../routes.ts'
import { fakePayments, type FakePayments } from '../testing/fake-payments.ts'
import { ajv, closed } from '../testing/closed.ts'
import { startHarness, type Harness } from '../testing/harness.ts'
import { pricingOutput, resourcesOutput } from '../routes/ops-table.ts'

const paid = routes.filter(({ priceUsdc }) => priceUsdc > 0)

let payments: FakePayments
let api: Harness
let free: Harness
beforeAll(async () => {
  payments = await fakePayments()
  api = await startHarness({ payments })
  free = await startHarness()
})
afterAll(async () => {
  await Promise.all([api.stop(), free.stop(), payments.stop()])
})

interface Operation {
  readonly 'x-payment-info'?: { price: { amount: string } }
  readonly parameters: readonly { name: string }[]
  readonly responses: Readonly<Record<string, { content?: Record<string, { schema: object }> }>>
}

async function operations(of: Harness): Promise<[string, Operation][]> {
  const { body } = await of.get('/openapi.json')
  const paths = body['paths'] as Record<string, Record<string, Operation>>
  return Object.entries(paths).flatMap(([path, byMethod]) =>
    Object.entries(byMethod).map(([method, operation]): [string, Operation] => [`${method} ${path}`, operation]),
  )
}

describe('what can be bought', () => {
  it('stands in the OpenAPI document: each price, and the 402 that asks for it', async () => {
    const told = (await operations(api)).flatMap(([name, operation]) => {
      const price = operation['x-payment-info']?.price.amount
      return price === undefined ? [] : [[name, price, '402' in operation.responses] as const]
    })
    const table = paid.map(({ method, path, priceUsdc }) => {
      return [`${method.toLowerCase()} ${path.replaceAll(/:(\w+)/g, '{$1}')}`, String(priceUsdc), true] as const
    })
    expect(new Set(told.map(String))).toEqual(new Set(table.map(String)))
  })

  it('takes an Idempotency-Key there', async () => {
    const keyed = (await operations(api)).flatMap(([name, operation]) =>
      operation['x-payment-info'] === undefined
        ? []
        : [[name, operation.parameters.filter(({ name: of }) => of === 'Idempotency-Key').length] as const],
    )
    expect(keyed.filter(([, times]) => times !== 1)).toEqual([])
    expect(keyed.filter(([name]) => name.endsWith('/extend')).length).toBe(apiKinds.length)
  })

  it('is asked for as the document says', async () => {
    const [, operation] = (await operations(api)).find(([name]) => name === 'get /cvd/{symbol}') ?? []
    const schema = operation?.responses['402']?.content?.['application/json']?.schema
    const { body, status } = await api.get('/cvd/BTC')
    const validate = ajv.compile(closed(schema ?? {}) as object)
    validate(body)
    expect([status, validate.errors ?? []]).toEqual([402, []])
  })

  it('is asked for at every address of /.well-known/x402', async () => {
    const { status, body } = await api.get('/.well-known/x402')
    expect(status).toBe(200)
    const validate = ajv.compile(closed(resourcesOutput.schema) as object)
    validate(body)
    expect(validate.errors ?? []).toEqual([])
    const resources = body['resources'] as string[]
    expect(resources.length).toBe(paid.length)
    for (const [index, row] of paid.entries()) {
      const target = resources[index]?.replace('https://api.example.com', '') ?? ''
      expect([target, (await api.get(target, { method: row.method })).status]).toEqual([target, 402])
    }
  })

  it('stands in /pricing, with who is paid and in what', async () => {
    const { body } = await api.get('/pricing')
    const validate = ajv.compile(closed(pricingOutput.schema) as object)
    validate(body)
    expect(validate.errors ?? []).toEqual([])
    expect(body).toMatchObject({ payments: 'play-money', pay: { network: 'eip155:84532', asset_name: 'USDC' } })
    expect((body['routes'] as object[]).length).toBe(routes.length)
  })

  it('stands in /llms.txt, in words', async () => {
    const { text } = (await api.get('/llms.txt')).body
    expect(text).toContain('/docs/reference/cvd.md): Cumulative volume delta over all venues that count (0.02 USDC)')
    for (const word of ['PAYMENT-SIGNATURE', 'X-PAYMENT', 'settlement_pending']) expect(text).toContain(word)
  })
})

describe('payments that are off', () => {
  it('are said to be off wherever one looks', async () => {
    expect((await free.get('/pricing')).body).toMatchObject({ payments: 'off' })
    expect((await free.get('/.well-known/x402')).body).toMatchObject({ resources: [] })
    expect((await free.get('/healthz')).body['payments']).toBe('off')
    for (const path of ['/', '/llms.txt']) expect((await free.get(path)).body['text']).toContain('PAYMENTS ARE OFF')
  })

  it('ask for nothing in the OpenAPI document, and are not taken', async () => {
    for (const [, operation] of await operations(free)) {
      expect(operation['x-payment-info']).toBeUndefined()
      expect(operation.responses['402']).toBeUndefined()
    }
    expect((await free.get('/cvd/BTC', { headers: { 'x-payment': 'x' } })).status).toBe(200)
    expect((await free.get('/cvd/BTC')).headers.get('access-control-allow-origin')).toBeNull()
  })
})

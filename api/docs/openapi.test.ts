import type { ValidateFunction } from 'ajv/dist/2020.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { errorStatus } from '../request/errors.ts'
import { openapi, templateOf } from './openapi.ts'
import { ajv, closed } from '../testing/closed.ts'
import { routes } from '../routes.ts'
import { flow, listAsset, NOW, startHarness, type Harness } from '../testing/harness.ts'
import { seller } from '../testing/fake-payments.ts'
import { endpoints } from '../testing/specification.ts'

interface Response {
  readonly description: string
  readonly content?: Record<string, { schema: Record<string, unknown> }>
}

interface Operation {
  readonly operationId: string
  readonly parameters: { name: string; in: string; required: boolean; schema: object }[]
  readonly requestBody?: Response
  readonly responses: Record<string, Response>
  readonly security?: Record<string, string[]>[]
  readonly 'x-price-usdc'?: number
}

interface Document {
  readonly openapi: string
  readonly info: { version: string }
  readonly paths: Record<string, Record<string, Operation>>
  readonly components: { schemas: { Error: object }; securitySchemes: Record<string, object> }
}

const document = JSON.parse(JSON.stringify(openapi(routes, '1.2.3'))) as Document
const billing = { seller, publicUrl: 'https://api.example.com' }
const paidDocument = JSON.parse(JSON.stringify(openapi(routes, '1.2.3', billing))) as Document

function operationsOf({ paths }: Document): Operation[] {
  return Object.values(paths).flatMap((operations) => Object.values(operations))
}

/** What the document says of an answer. */
function validator(path: string, status: number): ValidateFunction {
  const content = document.paths[path]?.['get']?.responses[String(status)]?.content
  const schema = content?.['application/json']?.schema
  if (schema === undefined) throw new Error(`the document has no JSON answer ${status} of ${path}`)
  return ajv.compile(closed('$ref' in schema ? document.components.schemas.Error : schema) as object)
}

describe('the OpenAPI document', () => {
  it('is 3.1 and carries the version', () => {
    expect([document.openapi, document.info.version]).toEqual(['3.1.0', '1.2.3'])
  })

  it('has exactly the routes of the table, with their prices', () => {
    const told = Object.entries(document.paths).flatMap(([path, operations]) =>
      Object.entries(operations).map(([method, operation]) => [method, path, operation['x-price-usdc'] ?? 0]),
    )
    const rows = routes.map((row) => [row.method.toLowerCase(), templateOf(row.path), row.priceUsdc])
    expect(told.map(String).toSorted()).toEqual(rows.map(String).toSorted())
  })

  it.each(routes.map((row) => [row.method, row.path, row] as const))(
    'says of %s %s what the table says',
    (method, path, row) => {
      const operation = document.paths[templateOf(path)]?.[method.toLowerCase()]
      expect(operation?.operationId).toBe(row.name)
      expect(operation?.parameters.map((parameter) => parameter.name)).toEqual([
        ...Object.keys(row.input),
        ...Object.keys(row.headers ?? {}).filter((name) => !['Authorization', 'X-API-Key'].includes(name)),
      ])
      expect(operation?.requestBody?.content?.['application/json']?.schema).toEqual(
        row.body === undefined
          ? undefined
          : { ...(JSON.parse(JSON.stringify(row.body.schema)) as object), additionalProperties: false },
      )
      const named = [...path.matchAll(/:(\w+)/g)].map(([, name]) => name)
      const inPath = operation?.parameters.filter((parameter) => parameter.in === 'path')
      expect(inPath?.map(({ name, required }) => [name, required])).toEqual(named.map((name) => [name, true]))
      const statuses = Object.keys(operation?.responses ?? {})
      expect(statuses).toEqual(expect.arrayContaining(Object.keys(row.outputs)))
      const errors = [...Object.values(row.input).map(({ error }) => error), ...row.errors]
      expect(statuses).toEqual(expect.arrayContaining(errors.map((error) => String(errorStatus[error]))))
    },
  )

  const [byNobody, byToken, byKey] = [{}, { manageToken: [] }, { apiKey: [] }]

  it.each([
    ['price_alert_cancel', [byToken], [byToken, byKey]],
    ['price_alert_test', [byToken], [byToken, byKey]],
    ['rule_alert_edit', [byToken], [byToken, byKey]],
    ['price_alert_extend', [byToken], [byToken, byKey]],
    ['key', [byToken], [byToken, byKey]],
    ['wallet_alerts', undefined, [byNobody, byKey]],
    ['cvd', undefined, [byNobody, byKey]],
    ['price_alert_create', undefined, [byNobody, byKey]],
    ['credit_buy', undefined, undefined],
    ['healthz', undefined, undefined],
  ])('says how %s is authorized, without payments and with them', (name, free, paid) => {
    const told = [document, paidDocument].map((one) => operationsOf(one).find((row) => row.operationId === name))
    expect(told.map((operation) => operation?.security)).toEqual([free, paid])
  })

  it.each([
    ['without payments', document, ['manageToken']],
    ['with payments', paidDocument, ['apiKey', 'manageToken']],
  ])('authorizes by schemes that it describes, and by no parameter, %s', (_, one, schemes) => {
    expect(Object.keys(one.components.securitySchemes).toSorted()).toEqual(schemes)
    const used = operationsOf(one).flatMap(({ security = [] }) => security.flatMap((way) => Object.keys(way)))
    expect([...new Set(used)].toSorted()).toEqual(schemes)
    const parameters = operationsOf(one).flatMap((operation) => operation.parameters.map(({ name }) => name))
    expect(parameters.filter((name) => ['Authorization', 'X-API-Key'].includes(name))).toEqual([])
  })

  it('names what an API key is refused with, wherever a price can be charged to one', () => {
    const refusals = { 401: 'unauthorized', 403: 'forbidden', 429: 'quota_reached' }
    const said = (one: Document): unknown[] =>
      operationsOf(one).flatMap(({ operationId: name, responses, ...row }) => {
        if (row['x-price-usdc'] === undefined) return []
        const isSaid = ([status, code]: [string, string]): boolean =>
          responses[status]?.description.split(', ').includes(code) === true
        return [[name, Object.entries(refusals).every(isSaid)]]
      })
    const priced = routes.filter(({ priceUsdc }) => priceUsdc > 0)
    expect(said(paidDocument)).toEqual(priced.map(({ name }) => [name, name !== 'credit_buy']))
    expect(said(document)).toEqual(priced.map(({ name }) => [name, false]))
    const challenge = JSON.stringify(paidDocument.paths['/cvd/{symbol}']?.['get']?.responses['402'])
    expect(challenge).toContain('insufficient_credit')
  })

  it('describes every field', () => {
    const bare: string[] = []
    const walk = (schema: unknown, at: string): void => {
      if (typeof schema !== 'object' || schema === null) return
      const { properties, description } = schema as { properties?: object; description?: string }
      if (at.endsWith('}') && description === undefined) bare.push(at)
      for (const [name, value] of Object.entries(properties ?? {})) walk(value, `${at}{${name}}`)
      if ('items' in schema) walk(schema.items, `${at}[]`)
    }
    for (const row of routes) for (const output of Object.values(row.outputs)) walk(output.schema, row.path)
    expect(bare).toEqual([])
  })
})

describe('answers', () => {
  let api: Harness
  beforeAll(async () => {
    api = await startHarness()
    listAsset(api.database, 'wif')
    const gap = { asset: 'btc', from: NOW - 20e6, to: NOW - 10e6 }
    api.database.gaps = [
      { ...gap, venue: 'okx', state: 'opened', missing: 3 },
      { ...gap, venue: 'bybit', state: 'unfillable', missing: null },
    ]
    api.database.flows.push(flow({}), flow({ venue: 'coinbase', part: 5 }))
  })
  afterAll(() => api.stop())

  it.each([
    ...endpoints.map(({ path, ask }) => [templateOf(path), ask, 200] as const),
    ...endpoints.flatMap(({ path, refused }) =>
      refused.map(([target, answer]) => [templateOf(path), target, Number(answer.slice(0, 3))] as const),
    ),
    ['/futures/long-short/{symbol}', '/futures/long-short/WIF', 202],
    ['/futures/open-interest/{symbol}', '/futures/open-interest/BTC', 200],
    ['/futures/open-interest/{symbol}', '/futures/open-interest/WIF', 202],
    ...['/futures/open-interest', '/futures/basis', '/futures/long-short', '/liquidation'].flatMap((at) => [
      [`${at}/history/{symbol}`, `${at}/history/BTC?interval=5m`, 200] as const,
      [`${at}/history/{symbol}`, `${at}/history/NOPE`, 404] as const,
      [`${at}/history/{symbol}`, `${at}/history/BTC?start=x`, 400] as const,
    ]),
    ['/futures/open-interest/history/{symbol}', '/futures/open-interest/history/WIF', 202],
    ['/futures/long-short/history/{symbol}', '/futures/long-short/history/WIF', 202],
    ['/liquidation/heatmap/{symbol}', '/liquidation/heatmap/WIF', 202],
    ['/futures/basis/{symbol}', '/futures/basis/WIF', 503],
    ['/cvd/{symbol}', '/cvd/BTC', 200],
    ['/cvd/{symbol}', '/cvd/WIF', 202],
    ['/cvd/{symbol}', '/cvd/NOPE', 404],
    ['/cvd/{symbol}', '/cvd/BTC?period=x', 400],
    ['/cvd/history/{symbol}', '/cvd/history/BTC?interval=1m', 200],
    ['/cvd/history/{symbol}', '/cvd/history/WIF', 202],
    ['/cvd/history/{symbol}', '/cvd/history/BTC?start=x', 400],
    ['/ohlcv/{symbol}', '/ohlcv/BTC?interval=1m&exchange=all', 200],
    ['/ohlcv/{symbol}', '/ohlcv/WIF', 202],
    ['/ohlcv/{symbol}', '/ohlcv/BTC?exchange=x', 400],
    ['/healthz', '/healthz', 200],
    ['/readyz', '/readyz', 200],
  ] as const)('of %s are what the document says: %s is %i', async (path, target, status) => {
    const { status: got, body } = await api.get(target)
    expect(got).toBe(status)
    const validate = validator(path, status)
    validate(body)
    expect(validate.errors ?? []).toEqual([])
  })

  it('of /openapi.json are the document', async () => {
    expect((await api.get('/openapi.json')).body).toEqual(document)
  })

  it('of / name every path of the table', async () => {
    const { text } = (await api.get('/')).body
    for (const { path } of routes) expect(text).toContain(path)
  })

  it.each([
    ['/healthz', 'healthz'],
    ['/readyz', 'readyz'],
  ])('of %s before the log was read are 503 and still as the document says', async (path) => {
    const broken = await startHarness({ source: { now: undefined, asked: () => undefined } })
    const { status, body } = await broken.get(path)
    expect(status).toBe(503)
    const validate = validator(path, 503)
    validate(body)
    expect(validate.errors ?? []).toEqual([])
    await broken.stop()
  })
})

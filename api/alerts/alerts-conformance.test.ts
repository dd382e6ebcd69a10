import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openapi, templateOf } from '../docs/openapi.ts'
import { routes } from '../routes.ts'
import { startAlerts, textOf, type AlertHarness, type Answered } from '../testing/alert-calls.ts'
import { ajv, closed } from '../testing/closed.ts'
import { isOf, valuesAt } from '../testing/fields.ts'
import { alertEndpoints, type AlertEndpoint } from '../testing/specification/alerts.ts'

let api: AlertHarness
beforeEach(async () => {
  api = await startAlerts()
})
afterEach(() => api.stop())

interface Operation {
  readonly responses: Record<string, { readonly content: Record<string, { readonly schema: object }> }>
}

const document = JSON.parse(JSON.stringify(openapi(routes, '1.2.3'))) as {
  readonly paths: Record<string, Record<string, Operation>>
  readonly components: { readonly schemas: { readonly Error: object } }
}

/** What the document finds wrong with an answer; a field that it does not name is wrong. */
function faults({ method, path }: Pick<AlertEndpoint, 'method' | 'path'>, { status, body }: Answered): unknown[] {
  const operation = document.paths[templateOf(path)]?.[method.toLowerCase()]
  const schema = operation?.responses[String(status)]?.content['application/json']?.schema
  if (schema === undefined) throw new Error(`the document has no answer ${status} of ${method} ${path}`)
  const validate = ajv.compile(closed('$ref' in schema ? document.components.schemas.Error : schema) as object)
  validate(body)
  return validate.errors ?? []
}

/** Asks about an alert that was made for it. */
async function ask({ method, path, body }: AlertEndpoint): Promise<Answered> {
  const { id, token } = await api.create({}, path.startsWith('/price') ? '/price-alert' : '/liquidation/alert')
  return api.send(method, path.replace(':id', id), { token, ...(body === undefined ? {} : { body }) })
}

describe.each(alertEndpoints.map((endpoint) => [endpoint.method, endpoint.path, endpoint] as const))(
  '%s %s',
  (method, path, endpoint) => {
    it('has the price of the specification and is not kept', () => {
      const row = routes.find((route) => route.path === path && route.method === method)
      expect([row?.priceUsdc, row?.ttlMs]).toEqual([endpoint.priceUsdc, 0])
    })

    it('gives each field with its type, and none that is not documented', async () => {
      const answer = await ask(endpoint)
      expect([answer.status, answer.headers.get('cache-control')]).toEqual([endpoint.status, 'no-store'])
      for (const [field, type] of Object.entries(endpoint.fields)) {
        const values = valuesAt(answer.body, field)
        expect([field, values.length > 0, values.filter((value) => !isOf(type, value))]).toEqual([field, true, []])
      }
      expect(faults(endpoint, answer)).toEqual([])
    })

    it('shows no URL, wallet or secret but to who creates', async () => {
      const text = JSON.stringify((await ask(endpoint)).body)
      const shows = [/https:/, /manage_token/, /webhook_secret|whsec_/].filter((secret) => secret.test(text))
      expect(shows).toHaveLength(endpoint.status === 201 ? 3 : 0)
    })
  },
)

describe('errors', () => {
  it.each([
    ['POST', '/price-alert', '/price-alert', undefined, 400],
    ['POST', '/price-alert', '/price-alert', 'x'.repeat(20_000), 413],
    ['GET', '/price-alert/:id', '/price-alert/alert_1', undefined, 404],
    ['DELETE', '/liquidation/alert/:id', '/liquidation/alert/alert_1', undefined, 404],
    ['GET', '/price-alerts', '/price-alerts?cursor=x', undefined, 400],
    ['GET', '/records/:id', '/records/x', undefined, 404],
  ] as const)('of %s %s are what the document says: %s', async (method, path, target, body, status) => {
    const answer = await api.send(method, target, body === undefined ? {} : { body })
    expect(answer.status).toBe(status)
    expect(faults({ method, path }, answer)).toEqual([])
  })
})

describe('what the decisions add', () => {
  it.each(['/price-alert', '/liquidation/alert'] as const)('is documented as it is: %s', async (path) => {
    const { id, at, token } = await api.create({}, path)
    const test = await api.send('POST', `${at}/test`, { token })
    expect(faults({ method: 'POST', path: `${path}/:id/test` }, test)).toEqual([])
    const trigger_id = textOf(test.body['trigger_id'])
    const times = { started: 2_000, finished: 3_500, due: null, triggered: 1_000 }
    const position = { started: 2_000, partition: 0, offset: 0 }
    const attempt = {
      alert_id: id,
      trigger_id,
      number: 1,
      outcome: 'delivered',
      status: 200,
      error: null,
      test: true,
      digest: null,
    }
    api.database.attempts = [{ ...attempt, ...times, position }]
    const deliveries = await api.send('GET', `${at}/deliveries`, { token })
    expect(deliveries.body).toMatchObject({ count: 1, deliveries: [{ trigger_id, attempt: 1, duration_ms: 2 }] })
    expect(faults({ method: 'GET', path: `${path}/:id/deliveries` }, deliveries)).toEqual([])
    api.database.triggers = [{ alert_id: id, trigger_id, partition: 0, offset: 0 }]
    const again = await api.send('POST', `${at}/deliveries/${trigger_id}/resend`, { token })
    expect(again.status).toBe(200)
    expect(faults({ method: 'POST', path: `${path}/:id/deliveries/:trigger_id/resend` }, again)).toEqual([])
  })
})

describe('an alert with a body of its own form', () => {
  it('shows the host, which can be all that is secret of an address, to who creates it and to nobody else', async () => {
    const channel = { type: 'template', url: 'https://eo1a2b3c.example.com/', body: '{"say": "{{text}}"}' }
    const body = { symbol: 'BTC', condition: 'above', target_price: 100, channel }
    const created = await api.send('POST', '/price-alert', { body })
    expect(created.body['channel']).toEqual({ type: 'template', destination: 'eo1a2b3c.example.com:443' })
    expect(api.alerts.commands[0]?.alert?.receiver).not.toContain('eo1a2b3c')
    const status = await api.get(`/price-alert/${textOf(created.body['alert_id'])}`)
    const listed = await api.get('/price-alerts')
    for (const answer of [status, listed]) expect(JSON.stringify(answer.body)).not.toContain('eo1a2b3c')
    expect(status.body['channel']).toEqual({ type: 'template' })
    expect(faults({ method: 'GET', path: '/price-alert/:id' }, status)).toEqual([])
    expect(faults({ method: 'GET', path: '/price-alerts' }, listed)).toEqual([])
  })
})

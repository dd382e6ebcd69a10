import { bodyComponents } from '../alerts/kinds/kinds.ts'
import { errorStatus, type ErrorCode } from '../request/errors.ts'
import {
  challengeResponse,
  guidance,
  paidErrorsOf,
  paymentHeaders,
  paymentInfo,
  takesCredit,
} from '../payments/discovery.ts'
import type { Billing } from '../payments/challenges.ts'
import { isRequired, type Param } from '../request/params.ts'
import type { Output, Route } from '../request/route.ts'
import { object, oneOf, text, type Schema } from '../request/schema.ts'

/** Errors that any route may give. */
const anyRoute: readonly ErrorCode[] = [
  'foreign_page',
  'not_found',
  'method_not_allowed',
  'wrong_host',
  'internal_error',
  'overloaded',
]

/** Headers that say who asks: `security` describes them, since readers of a document ignore a parameter `Authorization`. */
const authorizing: ReadonlySet<string> = new Set(['Authorization', 'X-API-Key'])

const manageToken = {
  type: 'http',
  scheme: 'bearer',
  description:
    'Of an alert the manage_token that its creation gave; of an API key the key itself, or the manage_token of POST /wallet/keys',
}

const apiKey = {
  type: 'apiKey',
  in: 'header',
  name: 'X-API-Key',
  description:
    'An API key of POST /credit: prices are charged to its credit, and it stands for the wallet that bought it',
}

const retryAfter = { 'Retry-After': { description: 'Seconds', schema: { type: 'integer' } } }

/** The OpenAPI 3.1 document that follows from the route table. */
export function openapi(routes: readonly Route[], version: string, payments: Billing | null = null): Schema {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Market data and alerts',
      version,
      description: 'Crypto market analytics folded from the trade streams of four venues.',
      ...(payments === null ? {} : { 'x-guidance': guidance(payments) }),
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    externalDocs: {
      description: 'Reference, guides and the event catalogue',
      url: `${payments?.publicUrl ?? ''}/docs`,
    },
    servers: [{ url: payments === null ? '/' : payments.publicUrl }],
    paths: pathsOf(routes, payments !== null),
    components: {
      schemas: { Error: errorSchema, ...bodyComponents },
      securitySchemes: { manageToken, ...(payments === null ? {} : { apiKey }) },
    },
  }
}

/** What every error answer holds. */
const errorSchema = object(
  'Why a request failed',
  {
    error: oneOf(Object.keys(errorStatus), 'Identifier for programs'),
    message: text('One sentence that says how to mend it'),
    request_id: text('As in X-Request-Id'),
    field: text('The parameter at fault'),
  },
  ['field'],
)

/** `/cvd/:symbol` as OpenAPI writes it. */
export function templateOf(path: string): string {
  return path.replace(/:(\w+)/g, '{$1}')
}

function pathsOf(routes: readonly Route[], isPaid: boolean): Schema {
  const paths: Record<string, Record<string, unknown>> = {}
  for (const route of routes)
    paths[templateOf(route.path)] = {
      ...paths[templateOf(route.path)],
      [route.method.toLowerCase()]: operationOf(route, isPaid),
    }
  return paths
}

function operationOf(route: Route, isPaid: boolean): Schema {
  const hasPrice = isPaid && route.priceUsdc > 0
  return {
    operationId: route.name,
    summary: route.description,
    ...(route.priceUsdc === 0 ? {} : { 'x-price-usdc': route.priceUsdc }),
    ...(hasPrice ? { 'x-payment-info': paymentInfo(route.priceUsdc) } : {}),
    ...securityOf(route, isPaid),
    parameters: [
      ...Object.entries(route.input).map(([name, param]) => parameterOf(name, param)),
      ...Object.entries(route.headers ?? {}).flatMap(([name, says]) =>
        authorizing.has(name) ? [] : [headerOf(name, says, isNeeded(route, name))],
      ),
      ...(hasPrice ? paymentHeaders(route) : []),
    ],
    ...bodyOf(route),
    responses: { ...outputsOf(route), ...errorsOf(route, hasPrice), ...(hasPrice ? { 402: challengeResponse } : {}) },
  }
}

/** Who asks: any one of these ways. There are API keys only where routes are paid for. */
function securityOf(route: Route, isPaid: boolean): Schema {
  const { headers = {} } = route
  const isOwners = 'Authorization' in headers
  const takesKey = isPaid && ('X-API-Key' in headers || takesCredit(route))
  if (!isOwners && !takesKey) return {}
  return { security: [isOwners ? { manageToken: [] } : {}, ...(takesKey ? [{ apiKey: [] }] : [])] }
}

/** The JSON object that a route takes, and the headers that say more. */
function bodyOf({ body }: Route): Schema {
  if (body === undefined) return {}
  const { schema, example, optional } = body
  return {
    requestBody: {
      required: !optional,
      content: { 'application/json': { schema: { ...schema, additionalProperties: false }, example } },
    },
  }
}

/** Whether a request without the header is refused. */
export function isNeeded({ needsKey }: Route, header: string): boolean {
  return needsKey === true && header === 'Idempotency-Key'
}

function headerOf(name: string, says: string, required: boolean): Schema {
  return { name, in: 'header', required, description: says, schema: { type: 'string' } }
}

function parameterOf(name: string, param: Param): Schema {
  return {
    name,
    in: param.in,
    required: isRequired(param.rule),
    description: param.description,
    schema: param.rule.schema,
    example: param.example,
  }
}

function outputsOf(route: Route): Schema {
  return Object.fromEntries(
    Object.entries(route.outputs).map(([status, { description, type, schema }]: [string, Output]) => [
      status,
      {
        description,
        ...(status === '202' ? { headers: retryAfter } : {}),
        content: { [type]: { schema } },
      },
    ]),
  )
}

/** Every error that a route may answer. */
export function errorsOfRoute(route: Route, hasPrice: boolean): ErrorCode[] {
  const limited: ErrorCode[] = route.limit === 'caller' ? ['rate_limited'] : []
  const own = Object.values(route.input).map((param) => param.error)
  const bodied: ErrorCode[] =
    route.body === undefined ? [] : ['invalid_body', 'body_too_large', 'unsupported_media_type']
  const paid = hasPrice ? paidErrorsOf(route) : []
  return [...new Set([...own, ...bodied, ...route.errors, ...limited, ...paid, ...anyRoute])]
}

/** Error answers, one per status, naming the identifiers. A status that has an output of its own keeps it. */
function errorsOf(route: Route, hasPrice: boolean): Schema {
  const byStatus = Map.groupBy(errorsOfRoute(route, hasPrice), (code) => String(errorStatus[code]))
  return Object.fromEntries(
    [...byStatus]
      .filter(([status]) => !(status in route.outputs))
      .map(([status, names]) => [
        status,
        {
          description: names.join(', '),
          ...(status === '429' || status === '503' ? { headers: retryAfter } : {}),
          content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
        },
      ]),
  )
}

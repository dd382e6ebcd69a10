import { jsonReply, textReply, type Reply } from '../request/reply.ts'
import type { Route } from '../request/route.ts'
import { isRequired } from '../request/params.ts'
import { guides } from '../docs/guides.ts'
import { pathOf } from '../docs/layout.ts'
import type { ErrorCode } from '../request/errors.ts'
import { array, integer, object, text, type Schema } from '../request/schema.ts'
import type { Billing } from './challenges.ts'
import { KEY } from './purchase.ts'
import type { Payments } from './payments.ts'

/** How long what follows from the table may be kept, milliseconds. */
const FRESH_MS = 60_000

type Selling = Billing & Pick<Payments, 'isPlayMoney'>

export type PaymentState = 'off' | 'play-money' | 'on'

export function paymentState(payments: Pick<Payments, 'isPlayMoney'> | null): PaymentState {
  if (payments === null) return 'off'
  return payments.isPlayMoney ? 'play-money' : 'on'
}

/** One line for people. */
export function paymentWords(payments: Selling | null): string {
  if (payments === null) return 'PAYMENTS ARE OFF: every route is free for everyone who reaches it.'
  const { network, assetName, payTo } = payments.seller
  const kind = payments.isPlayMoney ? ', play money on the chain of this machine' : ''
  return `Routes with a price are paid for by x402: ${assetName} on ${network.v1}${kind}, to ${payTo}.`
}

/** `GET /pricing` */
export function pricingAnswer(payments: Selling | null, routes: readonly Route[]): Reply {
  const body = {
    payments: paymentState(payments),
    currency: 'USDC',
    ...(payments === null ? {} : { pay: payOf(payments) }),
    routes: routes.map(({ method, path, description, priceUsdc }) => ({
      method,
      path: templateOf(path),
      says: description,
      price_usdc: priceUsdc,
    })),
  }
  return jsonReply(200, body, { freshForMs: FRESH_MS })
}

function payOf({ seller }: Billing): object {
  const { network, asset, assetName, payTo } = seller
  return {
    protocol: 'x402',
    scheme: 'exact',
    network: network.caip2,
    asset,
    asset_name: assetName,
    pay_to: payTo,
  }
}

function templateOf(path: string): string {
  return path.replaceAll(/:(\w+)/g, '{$1}')
}

/** `GET /.well-known/x402`: addresses that answer 402, so that they can be tried. */
export function resourcesAnswer(payments: Selling | null, routes: readonly Route[]): Reply {
  const base = payments?.publicUrl ?? ''
  const paid = payments === null ? [] : routes.filter(({ priceUsdc }) => priceUsdc > 0)
  const resources = paid.map((route) => base + exampleOf(route))
  const body = { version: 1, x402Version: 2, resources, openapi: `${base}/openapi.json` }
  return jsonReply(200, body, { freshForMs: FRESH_MS })
}

/** The route's path with the examples of its parameters, those of the query only where it needs them. */
export function exampleOf({ path, input }: Route): string {
  const filled = path.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(input[name]?.example ?? ''))
  const query = Object.entries(input).flatMap(([name, { in: location, rule, example }]) =>
    location === 'query' && isRequired(rule) ? [`${name}=${encodeURIComponent(example)}`] : [],
  )
  return query.length === 0 ? filled : `${filled}?${query.join('&')}`
}

/** `GET /llms.txt`, in the form of llmstxt.org: what this is, then links with a word on each. */
export function guideAnswer(payments: Selling | null, routes: readonly Route[]): Reply {
  const base = payments?.publicUrl ?? ''
  const lines = [
    '# Market data and alerts',
    '',
    '> Crypto market analytics folded from the trade streams of four venues, and webhook alerts, over HTTP as JSON.',
    '',
    paymentWords(payments),
    ...(payments === null ? [] : ['', guidance(payments)]),
    '',
    'Every page of the documentation is Markdown at its address with `.md` behind it.',
    '',
    '## Guides',
    '',
    ...guides.map(([slug, title, words]) => `- [${title}](${base}${pathOf({ slug })}.md): ${words}`),
    `- [Event catalogue](${base}/docs/events.md): topics, records and webhooks, field by field`,
    '',
    '## Routes',
    '',
    ...routes.map(({ method, path, description, priceUsdc, name }) => {
      const price = priceUsdc === 0 ? 'free' : `${priceUsdc} USDC`
      return `- [${method} ${templateOf(path)}](${base}/docs/reference/${name}.md): ${description} (${price})`
    }),
    '',
    '## Documents for programs',
    '',
    `- [OpenAPI 3.1](${base}/openapi.json): every parameter, body, answer and error`,
    `- [AsyncAPI 3.0](${base}/asyncapi.json): topics and webhooks`,
    `- [Prices](${base}/pricing): every route with its price as JSON`,
    `- [x402](${base}/.well-known/x402): addresses that can be paid`,
    '',
  ]
  return textReply('text/plain; charset=utf-8', lines.join('\n'), FRESH_MS)
}

/** What a program must know to pay. */
export function guidance({ seller }: Billing): string {
  const { network, assetName } = seller
  return [
    `Ask without a payment: a valid request is answered 402 with its price, in the header PAYMENT-REQUIRED (x402 version 2) and in the body (version 1).`,
    `Sign a transferWithAuthorization of exactly that amount of ${assetName} on ${network.v1} and send the same request again with PAYMENT-SIGNATURE or X-PAYMENT.`,
    `The payment is settled before the request is acted on; bad requests, symbols that warm up, stale and missing data cost nothing.`,
    `Send an Idempotency-Key with it that nobody can guess, best a random UUID, and keep it with the payment: payments can be read on the chain, and one that had a key gives its answer again under that key alone; POST /credit needs one.`,
    `When an answer got lost, or was 503 settlement_pending, send the same request with the same headers again: it is charged once and gives the same answer for 24 hours.`,
    `A payment pays for one request; with another one it is answered 409 payment_already_used.`,
  ].join(' ')
}

/** What the OpenAPI document says of a route that is paid for. */

/** Whether its price can be charged to the credit of an API key. */
export function takesCredit({ priceUsdc, buysCredit }: Pick<Route, 'priceUsdc' | 'buysCredit'>): boolean {
  return priceUsdc > 0 && buysCredit !== true
}

/** Errors of a payment, and of an API key in its place. */
export function paidErrorsOf(route: Route): ErrorCode[] {
  const ofKey: ErrorCode[] = takesCredit(route) ? ['unauthorized', 'forbidden', 'quota_reached'] : []
  const ofPayment = [
    'invalid_payment',
    'invalid_idempotency_key',
    'payment_already_used',
    'settlement_pending',
  ] as const
  return [...ofPayment, 'data_unavailable', ...ofKey]
}

/** The form that crawlers of paid interfaces read. */
export function paymentInfo(priceUsdc: number): Schema {
  return { price: { mode: 'fixed', currency: 'USD', amount: String(priceUsdc) }, protocols: [{ x402: {} }] }
}

export function paymentHeaders({ headers = {} }: Route): readonly Schema[] {
  return [
    header('PAYMENT-SIGNATURE', 'A payment of x402 version 2, JSON in base64'),
    header('X-PAYMENT', 'A payment of x402 version 1, JSON in base64'),
    ...(KEY in headers ? [] : [header(KEY, keyWords)]),
  ]
}

const keyWords =
  '16 to 128 characters that only you know, a random UUID: the payment, to be read on the chain, then gives its answer again under it alone'

function header(name: string, description: string): Schema {
  return { name, in: 'header', required: false, description, schema: { type: 'string' } }
}

const challengeSchema = object(
  'What it costs, as x402 version 1 says it, and why a payment was not accepted',
  {
    x402Version: integer('1'),
    error: text(
      'payment_required; insufficient_credit, where an API key has too little left; or the reason code of a payment that was not accepted',
    ),
    message: text('One sentence that says what to do'),
    docs: text('Address of the text that explains it'),
    accepts: array({ type: 'object', description: 'One offer' }, 'Offers'),
    payer: text('Who signed the payment that was not accepted'),
    request_id: text('As in X-Request-Id'),
  },
  ['docs', 'payer'],
)

export const challengeResponse: Schema = {
  description: 'Payment Required',
  headers: {
    'PAYMENT-REQUIRED': { description: 'The offer of x402 version 2, JSON in base64', schema: { type: 'string' } },
    'PAYMENT-RESPONSE': {
      description: 'Why a payment was not accepted, JSON in base64',
      schema: { type: 'string' },
    },
  },
  content: { 'application/json': { schema: challengeSchema } },
}

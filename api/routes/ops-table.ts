import { jsonOutput, opsRoute, type Route, type Call, textOutput } from '../request/route.ts'
import { openapi } from '../docs/openapi.ts'
import { guideAnswer, pricingAnswer, resourcesAnswer, paymentWords } from '../payments/discovery.ts'
import { JSON_TYPE, textReply, type Reply } from '../request/reply.ts'
import { array, integer, number, object, oneOf, text } from '../request/schema.ts'
import { docsRoutes } from './docs-table.ts'
import { healthz, readyz } from './health.ts'
import { metrics } from './metrics.ts'

const INDEX_TTL_MS = 60_000

/** The routes about the service itself; a part of the table in `routes.ts`, which some of them tell: `all`. */
export function opsRoutes(all: () => readonly Route[]): Route[] {
  return [healthz, readyz, metrics, ...guideRoutes(all), ...docsRoutes(all)]
}

export const pricingOutput = jsonOutput(
  'All prices',
  object(
    'All prices',
    {
      payments: oneOf(['off', 'play-money', 'on'], 'off: every route is free'),
      currency: text('What prices are in'),
      pay: object('How it is paid; not there while payments are off', {
        protocol: text('x402, whose versions 1 and 2 are taken'),
        scheme: text('exact'),
        network: text('CAIP-2 name of the network'),
        asset: text('Token contract'),
        asset_name: text('Name in its EIP-712 domain'),
        pay_to: text('Who is paid'),
      }),
      routes: array(
        object('One route', {
          method: text('HTTP method'),
          path: text('Path, parameters in braces'),
          says: text('What it is'),
          price_usdc: number('USDC for one request; 0: free'),
        }),
        'All routes',
      ),
    },
    ['pay'],
  ),
)

export const resourcesOutput = jsonOutput(
  'What can be bought',
  object('What can be bought', {
    version: integer('Of this document: 1'),
    x402Version: integer('Newest version of the protocol that is spoken'),
    resources: array(text('An address'), 'An example of each route that is paid for'),
    openapi: text('Address of the OpenAPI document'),
  }),
)

function guideRoutes(all: () => readonly Route[]): Route[] {
  return [
    opsRoute({
      path: '/openapi.json',
      name: 'openapi',
      description: 'This interface as OpenAPI 3.1',
      limit: 'caller',
      ttlMs: 60_000,
      outputs: { 200: { description: 'OpenAPI 3.1 document', type: 'application/json', schema: { type: 'object' } } },
      async prepare({ services, route }) {
        const make = async (): Promise<string> =>
          JSON.stringify(openapi(all(), services.version, services.payments), null, 2)
        const { value, freshForMs } = await services.cache.get(route.name, route.ttlMs, make)
        return textReply(JSON_TYPE, value, freshForMs)
      },
    }),
    opsRoute({
      path: '/pricing',
      name: 'pricing',
      description: 'Every route with its price, and how it is paid',
      limit: 'caller',
      ttlMs: 60_000,
      outputs: { 200: pricingOutput },
      prepare: async ({ services }) => pricingAnswer(services.payments, all()),
    }),
    opsRoute({
      path: '/.well-known/x402',
      name: 'well_known_x402',
      description: 'What can be bought, for clients that discover it',
      limit: 'caller',
      ttlMs: 60_000,
      outputs: { 200: resourcesOutput },
      prepare: async ({ services }) => resourcesAnswer(services.payments, all()),
    }),
    opsRoute({
      path: '/llms.txt',
      name: 'llms_txt',
      description: 'The routes in words, with prices and how to pay',
      limit: 'caller',
      ttlMs: 60_000,
      outputs: { 200: textOutput('A text in Markdown') },
      prepare: async ({ services }) => guideAnswer(services.payments, all()),
    }),
    opsRoute({
      path: '/',
      name: 'index',
      description: 'What there is and what to try',
      limit: 'caller',
      ttlMs: 60_000,
      outputs: { 200: textOutput('A short text') },
      prepare: async (call) => startPage(call, all()),
    }),
  ]
}

/** A page of text that gets a stranger to a number. */
function startPage({ services }: Call, routes: readonly Route[]): Reply {
  const { mode, version, payments } = services
  const widest = Math.max(...routes.map(({ method, path }) => `${method} ${path}`.length))
  const lines = routes.map(({ method, path, description, priceUsdc }) => {
    const price = priceUsdc === 0 ? 'free' : `${priceUsdc} USDC`
    return `  ${`${method} ${path}`.padEnd(widest)}  ${description} (${price})`
  })
  const body = [
    `Market data and alerts ${version}, mode ${mode}`,
    ...(mode === 'demo' ? ['The market is simulated: every number here is synthetic.'] : []),
    paymentWords(payments),
    'Documentation: /docs (in a browser), /llms.txt (for agents), /openapi.json (for programs)',
    '',
    ...lines,
    '',
    'Try, with this address before the path:',
    '  curl -s /cvd/BTC',
    "  curl -s '/cvd/history/ETH?interval=1m&limit=10'",
    "  curl -s '/ohlcv/SOL?interval=1m&exchange=all'",
    '',
  ].join('\n')
  return textReply('text/plain; charset=utf-8', body, INDEX_TTL_MS)
}

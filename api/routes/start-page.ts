import { paymentWords } from '../payments/discovery.ts'
import { textReply, type Reply } from '../reply.ts'
import type { Call, Route } from '../route.ts'

const INDEX_TTL_MS = 60_000

/** A page of text that gets a stranger to a number. */
export function startPage({ services }: Call, routes: readonly Route[]): Reply {
  const { mode, version, payments } = services
  const widest = Math.max(...routes.map(({ method, path }) => `${method} ${path}`.length))
  const lines = routes.map(({ method, path, says, priceUsdc }) => {
    const price = priceUsdc === 0 ? 'free' : `${priceUsdc} USDC`
    return `  ${`${method} ${path}`.padEnd(widest)}  ${says} (${price})`
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

// Pays each request with the unmodified client of x402 v1. Enters: JSON on standard input, {key, requests: [{url, init}]}.
// Leaves: JSON on standard output, [{status, body, receipt}], receipt as the API's X-PAYMENT-RESPONSE says. Of a stream, which
// has no end, the body is what came first.
import { text } from 'node:stream/consumers'
import { createSigner, decodeXPaymentResponse, wrapFetchWithPayment } from 'x402-fetch'

const { key, requests } = JSON.parse(await text(process.stdin))
const MAX = 1_000_000n // of the token's millionths; the client's own limit is a tenth of it
const pay = wrapFetchWithPayment(fetch, await createSigner('base-sepolia', key), MAX)
const isStream = (response) => response.headers.get('content-type')?.startsWith('text/event-stream')
const first = async (response) => {
  for await (const part of response.body) return new TextDecoder().decode(part)
}
const answers = []
for (const { url, init } of requests) {
  const response = await pay(url, init)
  const told = response.headers.get('x-payment-response')
  answers.push({
    status: response.status,
    body: isStream(response) ? await first(response) : await response.text(),
    receipt: told === null ? null : decodeXPaymentResponse(told),
  })
}
process.stdout.write(JSON.stringify(answers))

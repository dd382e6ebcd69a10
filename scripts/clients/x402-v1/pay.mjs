// Pays each request with the unmodified client of x402 v1. Enters: JSON on standard input, {key, requests: [{url, init}]}.
// Leaves: JSON on standard output, [{status, receipt}], receipt as the API's X-PAYMENT-RESPONSE says.
import { text } from 'node:stream/consumers'
import { createSigner, decodeXPaymentResponse, wrapFetchWithPayment } from 'x402-fetch'

const { key, requests } = JSON.parse(await text(process.stdin))
const pay = wrapFetchWithPayment(fetch, await createSigner('base-sepolia', key))
const answers = []
for (const { url, init } of requests) {
  const response = await pay(url, init)
  const told = response.headers.get('x-payment-response')
  answers.push({
    status: response.status,
    body: await response.text(),
    receipt: told === null ? null : decodeXPaymentResponse(told),
  })
}
process.stdout.write(JSON.stringify(answers))

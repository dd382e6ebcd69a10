import { exampleOf } from '../payments/discovery.ts'
import type { Route } from '../route.ts'

/** What the examples take from the shell: an alert that was made, and what a webhook of it named. */
const variables: Readonly<Record<string, string>> = { id: '$ALERT_ID', trigger_id: '$TRIGGER_ID' }
const keyVariables: typeof variables = { key_id: '$KEY_ID' }

/** The request of a route as a command; where it needs an alert's id or token, as a variable of the shell. */
export function commandOf(route: Route, base: string): string {
  const { method, body, headers = {} } = route
  const lines = [
    `curl -s${route.lastsMs === undefined ? '' : 'N'} "${base}${targetOf(route)}"`,
    ...(method === 'GET' || (method === 'POST' && body !== undefined) ? [] : [`-X ${method}`]),
    ...('Authorization' in headers
      ? [`-H "authorization: Bearer ${isOfKeys(route) ? '$API_KEY' : '$MANAGE_TOKEN'}"`]
      : []),
    ...(route.buysCredit === true ? ['-H "payment-signature: $PAYMENT"'] : []),
    ...('Idempotency-Key' in headers ? ["-H 'idempotency-key: my-alert-of-today'"] : []),
    ...(body === undefined ? [] : ["-H 'content-type: application/json'", dataOf(JSON.stringify(body.example))]),
  ]
  return lines.join(' \\\n  ')
}

/** In double quotes where it takes something from the shell. */
function dataOf(json: string): string {
  return json.includes('"$') ? `-d "${json.replaceAll('"', String.raw`\"`)}"` : `-d '${json}'`
}

function isOfKeys({ path }: Route): boolean {
  return path.startsWith('/keys/')
}

function targetOf(route: Route): string {
  const isAlert = route.path.includes('/alert') || route.path.startsWith('/price-alert')
  // One that is tried ends soon.
  if (route.lastsMs !== undefined) return `${exampleOf(route)}&seconds=1`
  if (!isAlert && !isOfKeys(route) && route.name !== 'record') return exampleOf(route)
  const named = route.name === 'record' ? { id: '$RECORD' } : isOfKeys(route) ? keyVariables : variables
  return route.path.replaceAll(/:(\w+)/g, (_, name: string) => named[name] ?? `$${name}`)
}

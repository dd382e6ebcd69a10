import { errorStatus, type ErrorCode } from '../request/errors.ts'
import { errorsOfRoute, isNeeded, templateOf } from './openapi.ts'
import { isRequired, type Rule } from '../request/params.ts'
import type { Output, Route } from '../request/route.ts'
import type { Schema } from '../request/schema.ts'
import { exampleOf, takesCredit } from '../payments/discovery.ts'
import { fieldsOf } from './fields.ts'
import { fence, table } from './markdown.ts'

/** What the documentation knows of a route beside its row: what it answered in the tests' small world. */
export type Examples = Readonly<Record<string, string>>

/** The reference of one route, in Markdown; everything in it follows from its row, the answer is a recorded one. */
export function referenceOf(route: Route, base: string, examples: Examples): string {
  const { method, path, description, body } = route
  const example = examples[route.name]
  const parts = [
    `# ${method} ${templateOf(path)}`,
    `${description}.`,
    priceText(route),
    ...parameters(route),
    ...(body === undefined
      ? []
      : [`## Body\n\n${body.optional ? 'May be left out.\n\n' : ''}${fieldTable(body.schema)}`]),
    `## Example\n\n${fence('sh', commandOf(route, base))}`,
    ...(example === undefined ? [] : [fence('json', example), EXAMPLE_NOTE]),
    ...Object.entries(route.outputs).flatMap(([status, output]) => answer(status, output)),
    `## Errors\n\n${errors(route)}`,
  ]
  return `${parts.join('\n\n')}\n`
}

const EXAMPLE_NOTE =
  'As the tests’ small world answers it, lists cut to two entries. `$NAME`: what the alert’s creation or its webhook gave.'

function priceText({ priceUsdc, ttlMs, limit, lastsMs }: Route): string {
  const price =
    priceUsdc === 0
      ? 'Free.'
      : `${priceUsdc} USDC ${lastsMs === undefined ? 'a request' : 'an hour'} where payments are on ([how it is paid](/docs/paying)); bad requests, warm-ups, stale and missing data cost nothing.`
  const kept = ttlMs === 0 ? '' : ` Answers are kept for ${ttlMs / 1000} s and shared.`
  return `${price}${kept}${limit === 'caller' ? ' Counts against the caller’s rate.' : ' Not limited: it is for probes.'}`
}

function parameters(route: Route): string[] {
  const { input, headers = {} } = route
  const rows = Object.entries(input).map(([name, { in: location, rule, description, example }]) => [
    `\`${name}\``,
    location,
    isRequired(rule) ? 'required' : usualOf(rule),
    `${description}; ${rule.words}`,
    `\`${example}\``,
  ])
  const sent = Object.entries(headers).map(([name, says]) => [
    `\`${name}\``,
    'header',
    isNeeded(route, name) ? 'required' : '',
    says,
    '',
  ])
  const all = [...rows, ...sent]
  return all.length === 0 ? [] : [`## Parameters\n\n${table(['name', 'in', 'default', 'rules', 'example'], all)}`]
}

/** What it is in a request without it, where that is one value. */
function usualOf({ absent }: Rule): string {
  return typeof absent === 'string' || typeof absent === 'number' ? `\`${absent}\`` : ''
}

function answer(status: string, { description, type, schema }: Output): string[] {
  const fields = fieldTable(schema)
  return [
    `## Answer ${status}\n\n${description.replace(/\.$/, '')}. \`${type}\`.${fields === '' ? '' : `\n\n${fields}`}`,
  ]
}

export function fieldTable(schema: Schema): string {
  const rows = fieldsOf(schema).map(({ path, type, description }) => [`\`${path}\``, type, description])
  return rows.length === 0 ? '' : table(['field', 'type', 'meaning'], rows)
}

function errors(route: Route): string {
  const codes = errorsOfRoute(route, route.priceUsdc > 0)
  const rows = codes
    .toSorted((a, b) => errorStatus[a] - errorStatus[b])
    .map((code) => [
      String(errorStatus[code]),
      `\`${code}\``,
      meanings[code] ?? 'Against its rule; `field` and `message` say what to change',
    ])
  if (route.priceUsdc > 0) rows.push(['402', '`payment_required`', paymentMeaning(route)])
  return table(['status', 'identifier', 'what it means'], rows)
}

function paymentMeaning(route: Route): string {
  const ofKey = takesCredit(route) ? '`insufficient_credit`: the API key has too little left; ' : ''
  return `Nothing was paid; ${ofKey}or the reason code of a payment that was refused`
}

/** What an error means wherever it comes; the message of an answer says more. */
const meanings: Readonly<Partial<Record<ErrorCode, string>>> = {
  symbol_not_found: 'Not in the catalogue',
  data_unavailable: 'Nothing can be said just now: come back after `Retry-After`; nothing was charged',
  rate_limited: 'More requests than the address may make: come back after `Retry-After`',
  overloaded: 'Too many requests are being answered: come back after `Retry-After`',
  method_not_allowed: '`Allow` names the methods',
  internal_error: 'Our fault; its `request_id` finds it in the log',
  payment_already_used: 'The payment was for another request, or came with another `Idempotency-Key`',
  settlement_pending: 'Send the same request with the same payment again: it is charged once',
  invalid_payment: 'The payment header cannot be read',
  unauthorized: 'The `manage_token` or the API key is missing; or the key is not known, or has ended',
  forbidden: 'Another alert’s or key’s token, or an API key without the scope',
  quota_reached: 'The API key has spent its `daily_max_usdc`: come back after `Retry-After`; nothing was charged',
  foreign_page: 'A web page of another site asked an API that is one machine’s alone',
  wrong_host: 'The API does not go by the name in `Host`; its operator names it in `API_NAMES`',
  alert_not_found: 'Never made, or ended more than 7 days ago',
  alert_not_active: 'It ended',
  idempotency_conflict: 'The key was used for another creation or payment',
  not_found: 'There is no such thing',
}

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
    // What only its owner may know is no example.
    ...('Idempotency-Key' in headers ? ['-H "idempotency-key: $UUID"'] : []),
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

import { EVENTS_TYPE, type Route } from '../../../api/request/route.ts'
import { routes } from '../../../api/routes.ts'
import { isRequired } from '../../../api/request/params.ts'
import { templateOf } from '../../../api/docs/openapi.ts'
import type { Schema } from '../../../api/request/schema.ts'

/** One field of an operation's input: a parameter, a field of the body, the alert's token, or the id of an event. */
export interface Input {
  readonly name: string
  readonly in: 'path' | 'query' | 'body' | 'token' | 'seen'
  readonly description: string
  readonly isRequired: boolean
  readonly type: InputType
}

type PlainKind = 'text' | 'integer' | 'number' | 'boolean' | 'time' | 'texts' | 'null'

export type InputType =
  | { readonly kind: PlainKind }
  | { readonly kind: 'choice'; readonly values: readonly string[] }
  | { readonly kind: 'object'; readonly schema: Schema }
  | { readonly kind: 'either'; readonly types: readonly InputType[] }

/** A route as a client sees it: one flat input, one answer. */
export interface Operation {
  readonly name: string
  readonly method: Route['method']
  readonly path: string
  readonly description: string
  readonly priceUsdc: number
  readonly inputs: readonly Input[]
  readonly answer: Schema
  /** An Idempotency-Key makes it safe to repeat. */
  readonly isKeyed: boolean
  /** It changes nothing. */
  readonly isQuestion: boolean
}

const SEEN_SAYS = 'The id of the last event that was read; it is remembered over cuts of one call'

/** What clients have a method for: every route that answers a JSON object of a known shape. */
export const operations: readonly Operation[] = routes.flatMap((route) => {
  const output = route.outputs[200] ?? route.outputs[201]
  if (output?.type !== 'application/json' || output.schema['properties'] === undefined) return []
  return [operationOf(route, output.schema)]
})

/** What clients listen to: every route that answers events; its answer has the data of each by its name. */
export const streams: readonly Operation[] = routes.flatMap((route) => {
  const output = route.outputs[200]
  return output?.type === EVENTS_TYPE ? [operationOf(route, output.schema)] : []
})

function operationOf(route: Route, answer: Schema): Operation {
  const { name, method, path, description, priceUsdc, headers = {} } = route
  return {
    name,
    method,
    path: templateOf(path),
    description,
    priceUsdc,
    inputs: inputsOf(route),
    answer,
    isKeyed: 'Idempotency-Key' in headers,
    isQuestion: method === 'GET' || name === 'alert_backtest',
  }
}

function inputsOf({ input, body, headers = {} }: Route): Input[] {
  const parameters = Object.entries(input).map(([name, { in: location, rule, description }]): Input => {
    return {
      name,
      in: location,
      description: `${description}; ${rule.words}`,
      isRequired: isRequired(rule),
      type: rule.given === undefined ? typeOfField(rule.schema) : { kind: rule.given },
    }
  })
  const token: Input[] =
    'Authorization' in headers
      ? [
          {
            name: 'manage_token',
            in: 'token',
            description: 'As the creation gave it; an API key of the buyer’s does as well',
            isRequired: !('X-API-Key' in headers),
            type: { kind: 'text' },
          },
        ]
      : []
  const seen: Input[] =
    'Last-Event-ID' in headers
      ? [{ name: 'last_event_id', in: 'seen', description: SEEN_SAYS, isRequired: false, type: { kind: 'text' } }]
      : []
  return [...parameters, ...(body === undefined ? [] : fieldsOfBody(body.schema)), ...token, ...seen]
}

function fieldsOfBody(schema: Schema): Input[] {
  const required = new Set(schema['required'] as readonly string[])
  return Object.entries(schema['properties'] as Readonly<Record<string, Schema>>).map(([name, field]) => ({
    name,
    in: 'body',
    description: String(field['description']),
    isRequired: required.has(name),
    type: typeOfField(field),
  }))
}

function typeOfField(field: Schema): InputType {
  if (Array.isArray(field['enum'])) return { kind: 'choice', values: field['enum'] as readonly string[] }
  // An object is one type, whatever it may hold.
  if (field['type'] === undefined && Array.isArray(field['oneOf']))
    return { kind: 'either', types: field['oneOf'].map((one: Schema) => typeOfField(one)) }
  const [type, ...others] = [field['type']].flat() as readonly string[]
  if (others.includes('null')) return { kind: 'either', types: [typeOfField({ ...field, type }), { kind: 'null' }] }
  switch (type) {
    case 'object':
      return { kind: 'object', schema: field }
    case 'array':
      return { kind: 'texts' }
    case 'boolean':
      return { kind: 'boolean' }
    case 'integer':
      return { kind: 'integer' }
    case 'string':
      return { kind: 'text' }
    default:
      return { kind: 'number' }
  }
}

/** `price_alert_create` as `PriceAlertCreate`. */
export function pascal(name: string): string {
  return name.replaceAll(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase())
}

export function camel(name: string): string {
  return name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
}

export function isObject(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The properties of an object's schema; `alike`: they all have the same schema, as venues do. */
export function propertiesOf(schema: Schema): {
  entries: [string, Schema][]
  isUniform: boolean
  required: Set<string>
} {
  const entries = Object.entries(isObject(schema['properties']) ? schema['properties'] : {}) as [string, Schema][]
  const [first] = entries
  const isUniform = entries.length > 1 && entries.every(([, one]) => JSON.stringify(one) === JSON.stringify(first?.[1]))
  return { entries, isUniform, required: new Set((schema['required'] ?? []) as readonly string[]) }
}

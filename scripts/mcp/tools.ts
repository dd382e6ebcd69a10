import type { Tool } from '@modelcontextprotocol/sdk/types.js'
import { bodyComponents } from '../../api/alerts/kinds/kinds.ts'
import { isRequired } from '../../api/request/params.ts'
import type { Route } from '../../api/request/route.ts'
import { routes } from '../../api/routes.ts'
import type { Schema } from '../../api/request/schema.ts'
import { operations, type OperationName } from '../clients/typescript/src/index.ts'

/** A route as a tool of the protocol. */
export interface RouteTool {
  readonly name: OperationName
  readonly tool: Tool
}

/** What an agent has no use for. */
const left: ReadonlySet<string> = new Set(['readyz', 'well_known_x402'])

const KEY_SAYS =
  '16 to 128 characters: the same key and input are followed once. Left out: that holds for a call whose answer was lost; one that was answered does it again'

/** Every operation of the client as a tool; names, words, schemas and hints follow from the route table. */
export const routeTools: readonly RouteTool[] = routes.flatMap((route) => {
  const { name } = route
  return isOperation(name) && !left.has(name) ? [{ name, tool: toolOf(route, name) }] : []
})

function isOperation(name: string): name is OperationName {
  return name in operations
}

function toolOf(route: Route, name: OperationName): Tool {
  const { isQuestion, isKeyed, isOwners } = operations[name]
  const required = requiredOf(route)
  const fields = Object(route.body?.schema['properties']) as Readonly<Record<string, unknown>>
  return {
    name,
    title: route.description,
    description: wordsOf(route),
    inputSchema: {
      type: 'object',
      properties: {
        ...Object.fromEntries(
          Object.entries(route.input).map(([field, { rule, description }]) => [
            field,
            { ...(rule.given === 'texts' ? textList() : rule.schema), description },
          ]),
        ),
        ...fields,
        ...(isOwners
          ? { manage_token: text('As the creation gave it; may be left out for alerts of this session') }
          : {}),
        ...(isKeyed ? { idempotency_key: text(KEY_SAYS) } : {}),
      },
      ...(required.length === 0 ? {} : { required }),
      additionalProperties: false,
      // A tool's schema has to hold all that it refers to.
      ...(JSON.stringify(fields).includes('"$ref"') ? { components: { schemas: bodyComponents } } : {}),
    },
    annotations: {
      title: route.description,
      readOnlyHint: isQuestion,
      // Its key may be left out: the same call again, once it was answered, does it again.
      ...(isQuestion ? {} : { destructiveHint: isLossy(route), idempotentHint: false }),
      openWorldHint: true,
    },
  }
}

/** What was there before is lost. */
function isLossy({ method, replaces }: Route): boolean {
  return method === 'DELETE' || method === 'PATCH' || replaces === true
}

function textList(): Schema {
  return { type: 'array', items: { type: 'string' } }
}

function text(description: string): Schema {
  return { type: 'string', description }
}

/** Fields without which the request would be refused; the token is known where the alert was made here. */
function requiredOf({ input, body }: Route): string[] {
  const required = Object.entries(input).filter(([, { rule }]) => isRequired(rule))
  return [...required.map(([name]) => name), ...((body?.schema['required'] ?? []) as readonly string[])]
}

function wordsOf({ description, method, path, priceUsdc, priceOf, body, outputs }: Route): string {
  const other = priceOf === undefined ? '' : ', or another price by its input,'
  const price = priceUsdc === 0 ? 'Free.' : `Costs ${priceUsdc} USDC${other} where payments are on.`
  const answer = outputs[200] ?? outputs[201]
  const input = body === undefined ? '' : ` Input: ${String(body.schema['description'])}.`
  return `${description}. ${answer?.description ?? ''}.${input} ${price} (${method} ${path})`
}

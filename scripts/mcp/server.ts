import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import {
  CallToolRequestSchema,
  ListToolsRequestSchema,
  type CallToolResult,
  type Tool,
} from '@modelcontextprotocol/sdk/types.js'
import {
  ApiError,
  CallError,
  NotPaidError,
  operations,
  PaymentRequiredError,
  type MarketDataClient,
  type Payment,
} from '../clients/typescript/src/index.ts'
import type { Payer } from '../clients/typescript/src/payer.ts'
import { routeTools, type RouteTool } from './tools.ts'

/** Alerts whose tokens are remembered; the oldest goes first. */
const TOKENS_MAX = 1_000
/** Calls without an answer that are remembered; the oldest goes first. */
const UNANSWERED_MAX = 1_000

export interface McpOptions {
  readonly client: MarketDataClient
  /** Or why nothing is paid. */
  readonly payer: Payer | { readonly why: string }
  readonly version: string
  readonly maxPerCallUsdc: number
}

const budgetTool: Tool = {
  name: 'budget',
  title: 'What may be spent',
  description: 'What this session has spent, what is left of its budget, and the most that one call may cost. Free.',
  inputSchema: { type: 'object', properties: {}, additionalProperties: false },
  annotations: { title: 'What may be spent', readOnlyHint: true, openWorldHint: false },
}

const instructions =
  'Crypto market data (cumulative volume delta, prices, funding, basis, liquidations) and alerts that call a webhook. ' +
  'Some tools cost USDC where the API asks for it; every answer says what was paid and what is left of the budget. ' +
  'To set an alert: alert_backtest (free: how often it would have rung), price_alert_create, price_alert_test, ' +
  'price_alert_deliveries, price_alert_cancel. A symbol that is asked for the first time takes ten seconds.'

/** The protocol's server over the API: one tool for each route. */
export function createMcpServer(options: McpOptions): Server {
  const server = new Server(
    { name: 'market-data-alerts', version: options.version },
    { capabilities: { tools: {} }, instructions },
  )
  const session = new Session(options)
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: [...routeTools.map(({ tool }) => tool), budgetTool],
  }))
  server.setRequestHandler(CallToolRequestSchema, ({ params }, { signal }) =>
    session.call(params.name, params.arguments ?? {}, signal),
  )
  return server
}

type ToolArguments = Readonly<Record<string, unknown>>

/** What a call was sent with: the same call again is sent with it, and so followed and charged once. */
interface Sent {
  readonly payment: Payment | undefined
  /** Its Idempotency-Key. */
  readonly key: string | undefined
}

interface Asking {
  readonly signal: AbortSignal
  /** What the same call before was sent with. */
  readonly before: Sent | undefined
}

interface Answered {
  readonly result: CallToolResult
  readonly sent: Sent
}

/** One agent's session: its budget, the tokens of the alerts that it made, and the calls that have no answer yet. */
class Session {
  readonly #options: McpOptions
  readonly #tokens = new Map<string, string>()
  /** By tool and arguments. */
  readonly #unanswered = new Map<string, Sent>()
  /** The last of each that is under way, by tool and arguments. */
  readonly #turns = new Map<string, Promise<unknown>>()

  constructor(options: McpOptions) {
    this.#options = options
  }

  /** `signal`: aborted once nobody waits for the result any more. */
  async call(name: string, given: ToolArguments, signal: AbortSignal): Promise<CallToolResult> {
    const found = routeTools.find((one) => one.name === name)
    const tool = name === budgetTool.name ? budgetTool : found?.tool
    if (tool === undefined) return failed(`There is no tool ${name}.`)
    const taken = Object.keys(tool.inputSchema.properties ?? {})
    const unknown = Object.keys(given).filter((field) => !taken.includes(field))
    if (unknown.length > 0) return failed(`Unknown: ${unknown.join(', ')}. ${name} takes ${listed(taken)}.`)
    if (found === undefined) return resultOf(this.#budget())
    const missing = (found.tool.inputSchema.required ?? []).filter((field) => given[field] === undefined)
    if (missing.length > 0) return failed(`Missing: ${missing.join(', ')}.`)
    const same = JSON.stringify([name, Object.entries(given).toSorted(([a], [b]) => (a < b ? -1 : 1))])
    return this.#inTurn(same, () => this.#answer(found, given, { same, signal }))
  }

  /** Behind the same call where that is under way: a cancelled one is known only then by what it was sent with. */
  async #inTurn(same: string, work: () => Promise<CallToolResult>): Promise<CallToolResult> {
    const turn = (this.#turns.get(same) ?? Promise.resolve()).then(work)
    this.#turns.set(same, turn)
    const result = await turn
    if (this.#turns.get(same) === turn) this.#turns.delete(same)
    return result
  }

  /** Never rejects. */
  async #answer(
    tool: RouteTool,
    given: ToolArguments,
    { same, signal }: { readonly same: string; readonly signal: AbortSignal },
  ): Promise<CallToolResult> {
    try {
      const { result, sent } = await this.#askAgain(tool, given, { signal, before: this.#takeSent(same) })
      if (signal.aborted) this.#keepSent(same, sent)
      return result
    } catch (error) {
      const sent = sentWith(error)
      if (sent !== undefined) this.#keepSent(same, sent)
      return failed(messageOf(error) + adviceOf(sent), this.#budget())
    }
  }

  /** With what the same call before was sent with; without its payment where that has expired unsettled. */
  async #askAgain(tool: RouteTool, given: ToolArguments, asking: Asking): Promise<Answered> {
    const { before } = asking
    try {
      return await this.#ask(tool, given, asking)
    } catch (error) {
      if (before?.payment === undefined || !(error instanceof PaymentRequiredError)) throw error
      return this.#ask(tool, given, { ...asking, before: { ...before, payment: undefined } })
    }
  }

  #takeSent(same: string): Sent | undefined {
    const sent = this.#unanswered.get(same)
    this.#unanswered.delete(same)
    return sent
  }

  #keepSent(same: string, sent: Sent): void {
    this.#unanswered.set(same, sent)
    forgetOldest(this.#unanswered, UNANSWERED_MAX)
  }

  async #ask({ name }: RouteTool, given: ToolArguments, { signal, before }: Asking): Promise<Answered> {
    const { idempotency_key: own, ...input } = given
    const key = typeof own === 'string' ? own : (before?.key ?? crypto.randomUUID())
    let paid: Payment | undefined
    let credit: number | undefined
    const answer = await this.#options.client.call(name, this.#withToken(name, input), {
      signal,
      idempotencyKey: key,
      payment: before?.payment,
      onPaid: (sent: Payment) => {
        paid = sent
      },
      onCharged: (usdc: number) => {
        credit = usdc
      },
    })
    this.#remember(answer)
    const charged = credit === undefined ? {} : { credit_usdc: credit }
    const cost = { paid_usdc: paid?.usdc ?? 0, ...charged, ...this.#budget() }
    return { result: resultOf({ answer, cost }), sent: { payment: paid, key } }
  }

  #budget(): object {
    const { payer, maxPerCallUsdc } = this.#options
    if ('why' in payer) return { paying: false, why: payer.why, spent_usdc: 0, left_usdc: 0 }
    const { spentUsdc, leftUsdc, address } = payer
    return {
      paying: true,
      payer: address,
      spent_usdc: spentUsdc,
      left_usdc: leftUsdc,
      max_per_call_usdc: maxPerCallUsdc,
    }
  }

  #withToken(name: keyof typeof operations, input: ToolArguments): ToolArguments {
    const { id } = input
    const known = typeof id === 'string' ? this.#tokens.get(id) : undefined
    return operations[name].isOwners && input['manage_token'] === undefined && known !== undefined
      ? { ...input, manage_token: known }
      : input
  }

  #remember(answer: unknown): void {
    const { alert_id: id, manage_token: token } = Object(answer) as ToolArguments
    if (typeof id !== 'string' || typeof token !== 'string') return
    this.#tokens.set(id, token)
    forgetOldest(this.#tokens, TOKENS_MAX)
  }
}

function forgetOldest(kept: Map<string, unknown>, most: number): void {
  const [oldest] = kept.keys()
  if (kept.size > most && oldest !== undefined) kept.delete(oldest)
}

function resultOf(value: object): CallToolResult {
  return { content: [{ type: 'text', text: JSON.stringify(value) }], structuredContent: { ...value } }
}

function listed(fields: readonly string[]): string {
  return fields.length === 0 ? 'nothing' : fields.join(', ')
}

function failed(message: string, cost?: object): CallToolResult {
  const text = cost === undefined ? message : `${message}\n${JSON.stringify({ cost })}`
  return { isError: true, content: [{ type: 'text', text }] }
}

/** With what a call was sent that may have been followed; undefined: it was refused, or is harmless to send anew. */
function sentWith(error: unknown): Sent | undefined {
  if (!(error instanceof CallError)) return undefined
  const { payment, idempotencyKey: key } = error
  return payment !== undefined || (key !== undefined && isOpen(error)) ? { payment, key } : undefined
}

/** Whether it may have been followed: before a last attempt that came too often (429) one may have lost its answer. */
function isOpen(error: CallError): boolean {
  return !(error instanceof ApiError) || error.status >= 500 || error.status === 429
}

function adviceOf(sent: Sent | undefined): string {
  if (sent === undefined) return ''
  return sent.payment === undefined
    ? ' The same call again is sent under the same Idempotency-Key, and followed once.'
    : ' The same call again sends the same payment, which is charged once.'
}

function messageOf(error: unknown): string {
  if (error instanceof ApiError) {
    const { field, pointer } = error.told
    return `${error.message}${field === undefined || pointer !== undefined ? '' : ` (field: ${field})`}`
  }
  if (error instanceof NotPaidError) return `${error.code}: ${error.message}`
  return error instanceof Error ? error.message : String(error)
}

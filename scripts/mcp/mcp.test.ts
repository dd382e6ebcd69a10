import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { fakePayments, type FakePayments } from '../../api/testing/fake-payments.ts'
import { NOW, startHarness, type Harness } from '../../api/testing/harness.ts'
import { payer } from '../../infra/local/chain/accounts.ts'
import { writeRunFile } from '../../infra/local/run-file.ts'
import { MarketDataClient } from '../clients/typescript/src/index.ts'
import { Payer } from '../clients/typescript/src/payer.ts'
import { createMcpServer } from './server.ts'
import { routeTools } from './tools.ts'

const program = fileURLToPath(new URL('../mcp.ts', import.meta.url))
const PATIENCE_MS = 120_000

let payments: FakePayments
let api: Harness
let folder: string
/** With a budget alone, with a key alone, with both. */
let keyless: Agent
let poor: Agent
let rich: Agent
beforeAll(async () => {
  payments = await fakePayments()
  api = await startHarness({ payments })
  api.advance(Date.now() - NOW / 1000) // the official client signs for now
  folder = mkdtempSync(path.join(tmpdir(), 'mcp-'))
  // Of a start that was killed: nothing of the API that is named.
  writeRunFile(folder, {
    mode: 'demo',
    data: folder,
    partitions: 1,
    parts: [{ name: 'supervisor', pid: 2 ** 22, url: '' }],
  })
  const key = { PAYER_KEY: payer.key }
  ;[keyless, poor, rich] = await Promise.all([
    startAgent(['--budget-usdc', '1', '--data', folder], {}),
    startAgent([], key),
    startAgent(['--budget-usdc', '0.15', '--max-per-call', '0.045'], key),
  ])
})
afterAll(async () => {
  await Promise.all([keyless, poor, rich].map(({ client }) => client.close()))
  rmSync(folder, { recursive: true })
  await Promise.all([api.stop(), payments.stop()])
})

interface Agent {
  readonly client: Client
  /** What the server wrote to standard error. */
  said(): string
}

/** The SDK's own client on the program as an agent starts it. */
async function startAgent(flags: readonly string[], settings: Record<string, string>): Promise<Agent> {
  const args = [program, '--api', api.url, ...flags]
  const env = { PATH: process.env['PATH'] ?? '', ...settings }
  const transport = new StdioClientTransport({ command: process.execPath, args, env, stderr: 'pipe' })
  let said = ''
  transport.stderr?.on('data', (chunk: Buffer) => (said += chunk.toString()))
  const client = new Client({ name: 'test', version: '1.0.0' })
  await client.connect(transport, { timeout: PATIENCE_MS })
  return { client, said: () => said }
}

/** An agent on a server in this process, whose client gives up at its second try. */
async function nearAgent(totalUsdc: number, line = { url: api.url, fetch }): Promise<Agent> {
  const paid = new Payer(privateKeyToAccount(payer.key), { maxPerCallUsdc: 1, totalUsdc })
  const asking = new MarketDataClient({ baseUrl: line.url, payer: paid, tries: 2, fetch: line.fetch })
  const server = createMcpServer({ client: asking, payer: paid, version: '1.0.0', maxPerCallUsdc: 1 })
  const [here, there] = InMemoryTransport.createLinkedPair()
  const client = new Client({ name: 'test', version: '1.0.0' })
  await Promise.all([server.connect(there), client.connect(here)])
  return { client, said: () => '' }
}

interface Called {
  readonly isError?: boolean
  readonly text: string
  readonly answer: Readonly<Record<string, unknown>>
  readonly cost: Readonly<Record<string, unknown>>
}

async function call({ client }: Agent, name: string, given: Record<string, unknown> = {}): Promise<Called> {
  const result = await client.callTool({ name, arguments: given }, undefined, { timeout: PATIENCE_MS })
  const [first] = result.content as { text: string }[]
  const { answer = {}, cost = {} } = (result.structuredContent ?? {}) as Partial<Called>
  return { isError: result.isError === true, text: first?.text ?? '', answer, cost }
}

const creation = { symbol: 'BTC', condition: 'above', target_price: 1, webhook_url: 'https://hooks.example.com/mcp' }

/** A creation that the agent's client gives up. */
async function cancelledCall({ client }: Agent, signal: AbortSignal): Promise<void> {
  const asked = client.callTool({ name: 'price_alert_create', arguments: creation }, undefined, { signal })
  await expect(asked).rejects.toThrow()
}

function budget(total: number, spent: number): object {
  return { paying: true, payer: payer.address, spent_usdc: spent, left_usdc: total - spent, max_per_call_usdc: 1 }
}

describe('the MCP server', () => {
  it('has a tool for every operation, with a schema and hints', async () => {
    const { tools } = await poor.client.listTools()
    expect(tools.map(({ name }) => name)).toEqual([...routeTools.map(({ name }) => name), 'budget'])
    const find = (name: string): unknown => tools.find((tool) => tool.name === name)
    expect(find('cvd')).toMatchObject({
      title: 'Cumulative volume delta over all venues that count',
      inputSchema: {
        properties: { symbol: { type: 'string' }, period: { enum: ['1h', '4h', '24h', '7d'] } },
        required: ['symbol'],
      },
      annotations: { readOnlyHint: true },
    })
    expect(find('price_alert_create')).toMatchObject({
      inputSchema: { required: ['symbol', 'condition', 'target_price'] },
      annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false },
    })
    expect(find('wallet_message')).toMatchObject({ inputSchema: { required: ['address'] } })
    const lossy = tools.filter(({ annotations }) => annotations?.destructiveHint === true).map(({ name }) => name)
    const cancels = ['price_alert_cancel', 'liquidation_alert_cancel', 'rule_alert_cancel']
    expect(lossy.toSorted()).toEqual(
      [...cancels, 'key_change', 'key_revoke', 'key_rotate', 'rule_alert_edit'].toSorted(),
    )
    const whole = 'The terms, whole: what is left out has its default'
    expect(find('rule_alert_edit')).toMatchObject({ description: expect.stringContaining(whole) })
    expect(tools.filter(({ annotations }) => annotations?.idempotentHint === true)).toEqual([])
    for (const { description, inputSchema } of tools)
      expect([description?.length, inputSchema.type]).toEqual([expect.toSatisfy((length) => length > 20), 'object'])
  })

  it('sets an alert, looks at its deliveries and cancels it', async () => {
    const key = { idempotency_key: 'the-alert-of-this-agent' }
    const made = await call(rich, 'price_alert_create', { ...creation, ...key })
    expect(made.cost).toMatchObject({ paid_usdc: 0.04, left_usdc: 0.11 })
    const again = await call(rich, 'price_alert_create', { ...creation, ...key })
    const id = made.answer['alert_id']
    expect([again.answer['alert_id'], payments.ledger.charged.length]).toEqual([id, 1])
    // Its token is remembered.
    expect((await call(rich, 'price_alert_test', { id })).answer['trigger_id']).toContain(id)
    expect((await call(rich, 'price_alert_deliveries', { id })).answer).toMatchObject({ alert_id: id, count: 0 })
    expect((await call(rich, 'price_alert_cancel', { id })).answer).toMatchObject({ status: 'cancelled' })
    const other = await call(rich, 'price_alert_cancel', { id, manage_token: 'another' })
    expect([other.isError, other.text]).toEqual([true, expect.stringContaining('403 forbidden')])
  })

  it('says where a rule is at fault, and what could be there', async () => {
    const when = { all: [{ metric: 'cvd', operator: 'above', value: 1, valeu: 2 }] }
    const { isError, text } = await call(rich, 'rule_alert_create', {
      symbol: 'BTC',
      when,
      webhook_url: 'https://hooks.example.com/mcp',
    })
    expect([isError, text]).toEqual([
      true,
      expect.stringContaining(
        '(at /when/all/0/valeu; allowed: metric, exchange, window, close, operator, value, hysteresis)',
      ),
    ])
  })

  it('pays within its budget, and says what is left', async () => {
    const { answer, cost } = await call(rich, 'cvd', { symbol: 'BTC' })
    expect(answer).toMatchObject({ symbol: 'BTC', period: '1h' })
    expect(cost).toMatchObject({ paid_usdc: 0.02, spent_usdc: 0.1, left_usdc: 0.05 })
    const dear = await call(rich, 'liquidation_heatmap', { symbol: 'BTC' })
    expect([dear.isError, dear.text]).toEqual([true, expect.stringContaining('over_max_per_call')])
    for (const name of ['cvd_history', 'ohlcv']) await call(rich, name, { symbol: 'BTC' })
    const empty = await call(rich, 'basis', { symbol: 'BTC' })
    expect([empty.isError, empty.text]).toEqual([true, expect.stringContaining('over_total')])
    expect((await call(rich, 'budget')).text).toContain('"left_usdc":0.01')
    expect((await call(rich, 'pricing')).cost).toMatchObject({ paid_usdc: 0 })
    expect(rich.said()).toContain('pays up to 0.15 USDC from 0x7099')
    expect(rich.said()).not.toContain(payer.key.slice(2))
  })

  it('pays nothing without a budget and a key, and says why, and what it would cost', async () => {
    const before = payments.ledger.charged.length
    for (const [agent, why] of [
      [poor, 'without a budget: --budget-usdc'],
      [keyless, 'without a key: PAYER_KEY or PAYER_KEY_FILE'],
    ] as const) {
      const { isError, text } = await call(agent, 'cvd', { symbol: 'BTC', period: '7d' })
      expect([isError, text]).toEqual([true, expect.stringContaining('402 payment_required')])
      expect((await call(agent, 'budget')).text).toBe(
        JSON.stringify({ paying: false, why, spent_usdc: 0, left_usdc: 0 }),
      )
      expect(agent.said()).toContain(`pays nothing (${why})`)
    }
    expect(payments.ledger.charged.length).toBe(before)
  })

  it('says where the input makes the price, and tells the one that was paid', async () => {
    const { tools } = await poor.client.listTools()
    const wordsOf = (name: string): unknown => tools.find((tool) => tool.name === name)?.description
    expect(wordsOf('cvd')).toContain(' Costs 0.02 USDC where payments are on.')
    expect(wordsOf('rule_alert_create')).toContain(
      ' Costs 0.06 USDC, or another price by its input, where payments are on.',
    )
    expect(wordsOf('credit_buy')).toContain(' Costs 1 USDC, or another price by its input, where payments are on.')
    const when = { metric: 'price', operator: 'above', value: 1 }
    const terms = { symbol: 'BTC', when, webhook_url: 'https://hooks.example.com/mcp', expires_in_hours: 720 }
    const { cost } = await call(await nearAgent(1), 'rule_alert_create', terms)
    expect(cost).toEqual({ paid_usdc: 0.175, ...budget(1, 0.175) })
  })

  it('charges the credit of an API key that it is given', async () => {
    const { answer } = await call(await nearAgent(1), 'credit_buy')
    const file = path.join(folder, 'api-key')
    writeFileSync(file, `${String(answer['api_key'])}\n`)
    const before = payments.ledger.charged.length
    const agent = await startAgent([], { MDA_API_KEY_FILE: file })
    const { cost } = await call(agent, 'cvd', { symbol: 'BTC' })
    const why = 'without a budget: --budget-usdc'
    const rest = { paying: false, why, spent_usdc: 0, left_usdc: 0 }
    expect(cost).toEqual({ paid_usdc: 0, credit_usdc: 0.02, ...rest })
    expect(payments.ledger.charged.length).toBe(before)
    expect(agent.said()).toContain('charges the credit of MDA_API_KEY')
    await agent.client.close()
  })

  it('refuses a field that a tool does not take, and says which it takes', async () => {
    const before = payments.ledger.charged.length
    const unknown = (name: string, given: Record<string, unknown>): Promise<Called> => call(rich, name, given)
    expect(await unknown('cvd', { symbol: 'BTC', interval: '1h' })).toMatchObject({
      isError: true,
      text: 'Unknown: interval. cvd takes symbol, period.',
    })
    const { isError, text } = await unknown('price_alert_create', { ...creation, hours: 0 })
    expect([isError, text]).toEqual([
      true,
      expect.stringMatching(/^Unknown: hours\. price_alert_create takes .*expires_in_hours/),
    ])
    expect(await unknown('budget', { of: 'me' })).toMatchObject({ text: 'Unknown: of. budget takes nothing.' })
    expect(payments.ledger.charged.length).toBe(before)
    const { tools } = await poor.client.listTools()
    expect(tools.filter(({ inputSchema }) => inputSchema['additionalProperties'] !== false)).toEqual([])
  })

  it('sends the payment of a call without an answer again at the same call', async () => {
    const own = await fakePayments()
    const later = await startHarness({ payments: own })
    later.advance(Date.now() - NOW / 1000)
    const agent = await nearAgent(3, { url: later.url, fetch })
    const before = own.ledger.charged.length
    own.ledger.outcome = 'pending'
    const open = await call(agent, 'credit_buy', { amount_usdc: 1, label: 'mine' })
    expect([open.isError, open.text]).toEqual([true, expect.stringContaining('settlement_pending')])
    expect(open.text).toContain('The same call again sends the same payment')
    const other = await call(agent, 'credit_buy', { amount_usdc: 1, label: 'another' })
    expect(other.text).toContain('"spent_usdc":2')
    const slow = own.ledger.intents.at(-1)
    own.ledger.outcome = 'settled'
    const bought = await call(agent, 'credit_buy', { label: 'mine', amount_usdc: 1 })
    expect([bought.answer['label'], bought.cost['paid_usdc'], bought.cost['spent_usdc']]).toEqual(['mine', 1, 2])
    expect(own.ledger.charged.length - before).toBe(1)
    if (slow !== undefined) own.ledger.mine(slow)
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 301_000 })
    later.advance(301_000)
    const late = await call(agent, 'credit_buy', { amount_usdc: 1, label: 'another' }).finally(() => vi.useRealTimers())
    expect([late.answer['label'], late.cost['spent_usdc']]).toEqual(['another', 2])
    await Promise.all([later.stop(), own.stop()])
  })

  it('sends a creation whose answer was lost under its Idempotency-Key again at the same call', async () => {
    const free = await startHarness()
    let lost = 2
    const losing: typeof fetch = async (...asked) => {
      const response = await fetch(...asked)
      if (lost > 0) throw new Error(`the answer is lost, ${(lost -= 1)} more will be`)
      return response
    }
    const agent = await nearAgent(0, { url: free.url, fetch: losing })
    const unanswered = await call(agent, 'price_alert_create', creation)
    expect([unanswered.isError, unanswered.text]).toEqual([
      true,
      expect.stringContaining('The same call again is sent under the same Idempotency-Key'),
    ])
    const made = await call(agent, 'price_alert_create', creation)
    const count = async (): Promise<unknown> => (await free.get('/price-alerts')).body['count']
    expect([typeof made.answer['alert_id'], await count()]).toEqual(['string', 1])
    // It was answered: the same call is another creation.
    const another = await call(agent, 'price_alert_create', creation)
    expect([another.answer['alert_id'] === made.answer['alert_id'], await count()]).toEqual([false, 2])
    const wrong = await call(agent, 'price_alert_create', { ...creation, symbol: 'NOPE' })
    expect([wrong.isError, wrong.text]).toEqual([true, expect.not.stringContaining('The same call again')])
    await agent.client.close()
    await free.stop()
  })

  it('answers a call that was cancelled after it was sent once it is made again, paid and followed once', async () => {
    const agent = await nearAgent(1)
    const charged = payments.ledger.charged.length
    const block = Promise.withResolvers<void>()
    payments.ledger.block = block.promise
    const stop = new AbortController()
    const asked = payments.ledger.intents.length
    const cancelled = cancelledCall(agent, stop.signal)
    await vi.waitFor(() => expect(payments.ledger.intents.length).toBe(asked + 1))
    stop.abort()
    await cancelled
    block.resolve()
    const made = await call(agent, 'price_alert_create', creation)
    expect(made.cost).toMatchObject({ paid_usdc: 0.04, spent_usdc: 0.04 })
    expect(payments.ledger.charged.length - charged).toBe(1)
    const { answer } = await call(agent, 'price_alert_create', creation)
    expect(answer['alert_id']).not.toBe(made.answer['alert_id'])
  })

  it.each(['before it is paid', 'while its answer is on the way'] as const)(
    'cancelled %s, signs no further payment and makes no second alert',
    async (when) => {
      const stop = new AbortController()
      const { promise: came, resolve: come } = Promise.withResolvers<void>()
      const requests: RequestInit[] = []
      /** Heeds no signal: as an answer that comes in spite of it. */
      const late: typeof fetch = async (url, init = {}) => {
        const response = await fetch(url, { ...init, signal: null })
        requests.push(init)
        if (requests.length !== (when === 'before it is paid' ? 1 : 2)) return response
        stop.abort()
        await vi.waitFor(() => expect(init.signal?.aborted).toBe(true)).finally(come)
        return response
      }
      const agent = await nearAgent(1, { url: api.url, fetch: late })
      const charged = payments.ledger.charged.length
      await cancelledCall(agent, stop.signal)
      await came
      const spent = async (): Promise<unknown> => (await call(agent, 'budget')).text
      expect(await spent()).toContain(`"spent_usdc":${when === 'before it is paid' ? 0 : 0.04},`)
      const { cost } = await call(agent, 'price_alert_create', creation)
      expect(cost).toMatchObject({ paid_usdc: 0.04, spent_usdc: 0.04 })
      expect(payments.ledger.charged.length - charged).toBe(1)
    },
  )

  it('signs another payment where the one of the call before has expired unsettled', async () => {
    const agent = await nearAgent(3)
    payments.ledger.outcome = 'pending'
    await call(agent, 'credit_buy', { amount_usdc: 1, label: 'slow' })
    payments.ledger.outcome = { reason: 'expired' }
    const { isError, text } = await call(agent, 'credit_buy', { amount_usdc: 1, label: 'slow' })
    payments.ledger.outcome = 'settled'
    expect([isError, text]).toEqual([true, expect.stringContaining('"spent_usdc":2')])
  })

  it('tells what is wrong with a call', async () => {
    expect(await call(poor, 'price_alert')).toMatchObject({ isError: true, text: 'Missing: id.' })
    expect(await call(poor, 'nothing')).toMatchObject({ isError: true, text: 'There is no tool nothing.' })
    const { text } = await call(poor, 'price_alert', { id: 'alert_btc_1_1' })
    expect(text).toContain('404 alert_not_found')
  })
})

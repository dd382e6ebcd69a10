import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import type { PrivateKeyAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { PaidSystem } from '../../api/testing/paid-system.ts'
import type { Child } from '../../infra/local/child.ts'
import { payer as example } from '../../infra/local/chain/accounts.ts'
import { documentedBlocks, withAddresses, planOf } from '../docs/testing/commands.ts'
import { MarketDataClient, type Payment } from './typescript/src/index.ts'
import { Payer } from './typescript/src/payer.ts'

/** Our clients and the MCP server pay on a chain, through the API and the settling as they run. */

const PATIENCE_MS = 240_000
const run = promisify(execFile)
const file = (name: string): string => fileURLToPath(new URL(name, import.meta.url))
const python = process.env['PYTHON'] ?? 'python3'
const budget = { maxPerCallUsdc: 0.05, totalUsdc: 1 }
const alert = {
  symbol: 'BTC',
  condition: 'above',
  target_price: 1e9,
  webhook_url: 'https://hooks.example.com/x',
} as const

const canPayInPython = await run(python, ['-c', 'import x402.mechanisms.evm.exact.register']).then(
  () => true,
  () => false,
)
if (!canPayInPython) console.log(`skipped: ${python} has no x402[evm]; set PYTHON to one that has`)

const folder = mkdtempSync(path.join(tmpdir(), 'clients-'))
let system: PaidSystem
let api: Child
beforeAll(async () => {
  system = await PaidSystem.open(inject('parts'), { reads: [] })
  ;[api] = await Promise.all([
    system.start('api/main.ts'),
    system.start('processors/main.ts'),
    system.start('processors/payments/main.ts'),
  ])
  await system.awaitMarket(api.url, await system.payer(), ['/cvd/BTC', '/price/BTC'])
  const parts = [
    { name: 'api', pid: api.pid, url: api.url },
    { name: 'chain', url: system.chain.url },
  ]
  writeFileSync(path.join(folder, 'run.json'), JSON.stringify({ mode: 'demo', data: folder, parts }))
}, PATIENCE_MS)
afterAll(async () => {
  await system?.stop()
  rmSync(folder, { recursive: true, force: true })
}, PATIENCE_MS)

/** What an account has lost by the work, millionths. */
async function costOf(account: Pick<PrivateKeyAccount, 'address'>, work: () => Promise<unknown>): Promise<number> {
  const before = await system.balance(account.address)
  await work()
  return Number(before - (await system.balance(account.address)))
}

describe('the client in TypeScript', () => {
  it('pays for data and for an alert exactly what they cost, and has a receipt', { timeout: PATIENCE_MS }, async () => {
    const account = await system.payer()
    const payer = new Payer(account, budget)
    const client = new MarketDataClient({ baseUrl: api.url, payer })
    const receipts: (string | null)[] = []
    const onPaid = (_payment: Payment, receipt: string | null): number => receipts.push(receipt)
    const cost = await costOf(account, async () => {
      expect((await client.cvd({ symbol: 'BTC' }, { onPaid })).symbol).toBe('BTC')
      const made = await client.priceAlertCreate(alert, { onPaid })
      expect((await client.priceAlert({ id: made.alert_id })).status).toBe('active')
      const owner = { id: made.alert_id, manage_token: made.manage_token }
      expect((await client.priceAlertExtend({ ...owner, add_hours: 2 }, { onPaid })).add_hours).toBe(2)
      expect((await client.priceAlertCancel(owner)).status).toBe('cancelled')
    })
    expect([cost, payer.spentUsdc, receipts.length, receipts.includes(null)]).toEqual([80_000, 0.08, 3, false])
  })
})

describe.skipIf(!canPayInPython)('the client in Python', () => {
  const kinds = [
    ['', false],
    [' for asyncio', true],
  ] as const
  it.each(kinds)('pays exactly what it costs%s', { timeout: PATIENCE_MS }, async (_name, is_async) => {
    const cost = await costOf(example, async () => {
      const env = { ...process.env, PAYER_KEY: example.key, MAX_PER_CALL_USDC: '0.05', BUDGET_USDC: '0.05' }
      const child = run(python, ['-B', file('python/test_program.py')], { env, timeout: PATIENCE_MS })
      child.child.stdin?.end(`${JSON.stringify({ base: api.url, call: 'cvd', input: { symbol: 'BTC' }, is_async })}\n`)
      expect(JSON.parse((await child).stdout)).toMatchObject({ answer: { symbol: 'BTC' }, spent: 0.02 })
    })
    expect(cost).toBe(20_000)
  })
})

describe('the MCP server', () => {
  it('pays within its budget, and sets an alert, looks at it and cancels it', { timeout: PATIENCE_MS }, async () => {
    // It finds the system by its data folder, and pays as the chain's example payer.
    const args = [file('../mcp.ts'), '--data', folder, '--budget-usdc', '0.07']
    const transport = new StdioClientTransport({ command: process.execPath, args, stderr: 'ignore' })
    const agent = new Client({ name: 'test', version: '1.0.0' })
    await agent.connect(transport, { timeout: PATIENCE_MS })
    const call = async (name: string, given: Record<string, unknown>): Promise<Record<string, unknown>> => {
      const result = await agent.callTool({ name, arguments: given }, undefined, { timeout: PATIENCE_MS })
      return { ...Object(result.structuredContent), isError: result.isError === true }
    }
    const cost = await costOf(example, async () => {
      expect(await call('cvd', { symbol: 'BTC' })).toMatchObject({
        answer: { symbol: 'BTC' },
        cost: { paid_usdc: 0.02 },
      })
      const made = await call('price_alert_create', alert)
      expect(made).toMatchObject({ answer: { status: 'active' }, cost: { paid_usdc: 0.04, left_usdc: 0.01 } })
      const { alert_id: id } = Object(made['answer']) as { alert_id: string }
      expect(await call('price_alert_deliveries', { id })).toMatchObject({ answer: { alert_id: id } })
      expect(await call('price_alert_cancel', { id })).toMatchObject({ answer: { status: 'cancelled' } })
      expect(await call('cvd', { symbol: 'BTC', period: '4h' })).toMatchObject({ isError: true })
    })
    expect(cost).toBe(60_000)
    await agent.close()
  })
})

describe('the documented commands that pay', () => {
  const blocks = documentedBlocks().flatMap(({ document, commands }) => {
    const mine = commands.filter((command) => planOf(document, command) === 'paid')
    return mine.length === 0 ? [] : [[document, mine[0]?.slice(0, 60), mine] as const]
  })

  it.each(blocks)('of %s work as they stand: %s', { timeout: PATIENCE_MS }, async (_document, _title, commands) => {
    const places = { api: api.url, clickhouse: '', receiver: '', data: folder }
    for (const command of commands) {
      // Asking without a payment is documented as well: its answer is 402.
      const script = withAddresses(command, places).replace('--fail-with-body', '')
      const { stdout, stderr } = await run('bash', ['-euc', script], { timeout: PATIENCE_MS })
      const paid = command.startsWith('npm run pay')
      const expected = paid ? /"success":true/ : /402 Payment Required|"payments":/
      expect([command, expected.test(paid ? stderr : stdout)]).toEqual([command, true])
    }
  })
})

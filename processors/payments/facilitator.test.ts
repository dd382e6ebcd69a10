import { describe, expect, it } from 'vitest'
import { quietReport } from '../kernel/quiet.ts'
import { Chain } from './chain.ts'
import { FacilitatorSettler } from './facilitator.ts'
import { NOW, SELLER } from './testing/intents.ts'
import type { Outcome, Sent } from './settler.ts'
import { TestClock, TestNode } from './testing/node.ts'
import { hex, transferCall } from './token.ts'

const TX = hex(`0x${'41'.repeat(32)}`)
const OTHER = hex(`0x${'12'.repeat(32)}`)
const EXPIRED = 'invalid_exact_evm_payload_authorization_valid_before'
const no = (errorReason: string, transaction = ''): object => ({ success: false, errorReason, transaction })

interface World {
  readonly node: TestNode
  /** What each call of `/settle` is answered, null: never; the last one again and again. */
  readonly answers: readonly (object | string | null)[]
  /** What happens on the chain, by the seconds since the settlement was asked for. */
  readonly later?: Readonly<Record<number, () => void>>
}

/** Settles with a facilitator that finds every payment good. */
async function settle({ node, answers, later = {} }: World): Promise<{ outcome: Outcome; sent: Sent[]; asks: number }> {
  const clock = new TestClock()
  let asks = 0
  const post: typeof fetch = (url) => {
    if (new Request(url).url.endsWith('/verify')) return Promise.resolve(Response.json({ isValid: true }))
    const said = answers[Math.min(asks++, answers.length - 1)] ?? null
    if (said === null) return new Promise(() => undefined)
    return Promise.resolve(typeof said === 'string' ? new Response(said, { status: 502 }) : Response.json(said))
  }
  const due = new Map(Object.entries(later).map(([seconds, act]) => [Number(seconds), act]))
  clock.onDelay = () => {
    node.time = Math.floor(clock.now() / 1_000)
    for (const [seconds, act] of due) if (node.time - NOW >= seconds && due.delete(seconds)) act()
  }
  const chain = new Chain(node.client)
  const settler = new FacilitatorSettler({ url: 'http://f', seller: SELLER, chain, clock, report: quietReport, post })
  const sent: Sent[] = []
  const sending = async (one: Sent): Promise<void> => void sent.push(one)
  const signal = AbortSignal.timeout(30_000)
  return { outcome: await settler.settle({ intent: node.intent, sent: [], sending, signal }), sent, asks }
}

describe('once a settlement was asked for', () => {
  it.each<[string, object | string | null]>([
    ['does not answer', null],
    ['answers with a page of a proxy', '<html>'],
    ['says that its node failed', no('settle_exact_node_failure')],
    ['says that it has seen no block', no('settle_exact_evm_transaction_confirmation_timed_out')],
    ['names the transaction that it has seen no block of', no('settlement_pending', TX)],
    ['says something new', no('out_of_luck')],
    ['says that the payer has too little, which is not so', no('insufficient_funds')],
    ['says that the authorization is used, which is not so', no('invalid_exact_evm_nonce_already_used')],
    ['says that the signature is wrong, which is not so', no('invalid_exact_evm_payload_signature')],
    ['names a transaction that was undone, and is of something else', no('invalid_transaction_state', OTHER)],
    ['names a transaction that is none', { success: true, transaction: `0x${'13'.repeat(32)}` }],
  ])('a facilitator that %s may yet settle: the payment has not failed', async (_, answer) => {
    const node = new TestNode()
    node.mine(OTHER, { isPaid: false, input: '0x1234' })
    const input = transferCall(node.intent)
    const { outcome, sent } = await settle({
      node,
      answers: [answer],
      later: { 100: () => node.mine(TX, { isPaid: true, input }) },
    })
    expect(outcome).toEqual({ is: 'settled', tx: TX, block: 7, by: 'facilitator' })
    expect(sent).toEqual([{ tx: null, raw: null }])
  })

  it('it has not failed by an answer that is not definite, though our own node refuses the transfer for now', async () => {
    const node = new TestNode()
    node.revert = 'ERC20: transfer amount exceeds balance'
    const input = transferCall(node.intent)
    const answers = [no('settle_exact_node_failure')]
    const { outcome } = await settle({ node, answers, later: { 100: () => node.mine(TX, { isPaid: true, input }) } })
    expect(outcome).toEqual({ is: 'settled', tx: TX, block: 7, by: 'facilitator' })
  })

  it('it is looked for on the chain while the facilitator still keeps us waiting', async () => {
    const node = new TestNode()
    const input = transferCall(node.intent)
    const later = { 3: () => node.mine(TX, { isPaid: true, input }) }
    const { outcome, asks } = await settle({ node, answers: [null], later })
    expect([outcome.is, asks, node.time - NOW]).toEqual(['settled', 1, 3])
  })

  it('it has failed when its time is over and the authorization unused', async () => {
    const node = new TestNode()
    const { outcome, asks } = await settle({ node, answers: [no('settle_exact_node_failure'), null] })
    expect(outcome).toEqual({ is: 'failed', tx: null, reason: EXPIRED })
    expect([node.time, asks]).toEqual([node.intent.valid_before, 2])
  })

  it.each([
    ['insufficient_funds', 'ERC20: transfer amount exceeds balance', 'insufficient_funds'],
    ['invalid_exact_evm_insufficient_balance', 'ERC20: transfer amount exceeds balance', 'insufficient_funds'],
    ['invalid_exact_evm_signature', 'FiatTokenV2: invalid signature', 'invalid_exact_evm_payload_signature'],
    [EXPIRED, 'FiatTokenV2: authorization is expired', EXPIRED],
  ])('it has failed by a definite answer, %s, that our own node agrees with', async (said, revert, reason) => {
    const node = new TestNode()
    const answers = [no(said)]
    const { outcome } = await settle({ node, answers, later: { 0: () => (node.revert = revert) } })
    expect(outcome).toEqual({ is: 'failed', tx: null, reason })
    expect(node.time).toBeLessThan(node.intent.valid_before)
  })

  it('it has failed by the receipt of its transaction, which was undone', async () => {
    const node = new TestNode()
    node.mine(TX, { isPaid: false, input: transferCall(node.intent) })
    const { outcome } = await settle({ node, answers: [no('invalid_exact_evm_transaction_failed', TX)] })
    expect(outcome).toEqual({ is: 'failed', tx: TX, reason: 'invalid_transaction_state' })
  })

  it('it has failed where the payer has used the authorization for something else', async () => {
    const node = new TestNode()
    node.isUsed = true
    const { outcome } = await settle({ node, answers: [null] })
    expect(outcome).toEqual({ is: 'failed', tx: null, reason: 'invalid_exact_evm_nonce_already_used' })
  })

  it('it has failed after one look where the chain shows what the payer has used it for', async () => {
    const node = new TestNode()
    node.mine(TX, { isPaid: true, input: transferCall({ ...node.intent, pay_to: node.intent.from, value: '0' }) })
    const { outcome } = await settle({ node, answers: [{ success: true, transaction: TX }] })
    expect(outcome).toEqual({ is: 'failed', tx: null, reason: 'invalid_exact_evm_nonce_already_used' })
    expect(node.asked.filter((method) => method === 'eth_getLogs')).toHaveLength(1)
  })
})

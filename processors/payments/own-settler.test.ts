import { privateKeyToAccount } from 'viem/accounts'
import { expect, it } from 'vitest'
import { quietReport } from '../kernel/quiet.ts'
import { Chain } from './chain.ts'
import { SELLER } from './given.ts'
import { OwnSettler } from './own-settler.ts'
import type { Outcome, Sent } from './settler.ts'
import { TestClock, TestNode, type Reply } from './test-node.ts'
import { nonceOf, Wallet } from './wallet.ts'

const account = privateKeyToAccount(`0x${'5a'.repeat(32)}`)

async function settle(
  replies: readonly Reply[],
  node = new TestNode(),
): Promise<{ outcome: Outcome; sent: Sent[]; node: TestNode }> {
  node.replies = [...replies]
  const { client, intent } = node
  const clock = new TestClock()
  const { chainId } = SELLER.network
  const wallet = new Wallet({ client, chainId, account, clock, report: quietReport })
  const settler = new OwnSettler({ chain: new Chain(client), wallet, clock, report: quietReport })
  const sent: Sent[] = []
  const sending = async (one: Sent): Promise<void> => void sent.push(one)
  const signal = AbortSignal.timeout(30_000)
  return { outcome: await settler.settle({ intent, sent: [], sending, signal }), sent, node }
}

it('settles what the node takes, and has written it down before', async () => {
  const { outcome, sent, node } = await settle(['takes'])
  expect(outcome).toEqual({ is: 'settled', tx: sent[0]?.tx, block: 7, by: 'us' })
  expect(sent.map(({ raw }) => raw)).toEqual([...node.taken.values()])
})

it('takes another number where one is taken', async () => {
  const { outcome, sent } = await settle(['says taken', 'takes'])
  expect(sent.map(({ raw }) => nonceOf(raw ?? '0x'))).toEqual([0, 1])
  expect(outcome).toMatchObject({ is: 'settled', tx: sent[1]?.tx })
})

it('fails where the node refuses, and nothing was sent', async () => {
  const { outcome, node } = await settle(['refuses'])
  expect(outcome).toEqual({ is: 'failed', tx: null, reason: 'unexpected_settle_error' })
  expect(node.taken.size).toBe(0)
})

it('does not say that it failed where the number was taken by the very transaction, and the next is refused', async () => {
  const { outcome, sent } = await settle(['takes, says taken', 'refuses'])
  expect(outcome).toEqual({ is: 'settled', tx: sent[0]?.tx, block: 7, by: 'us' })
})

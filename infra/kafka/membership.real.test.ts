import { afterEach, describe, expect, inject, it } from 'vitest'
import { groupMembership } from './membership.ts'
import type { Membership } from './seam.ts'
import { createTestTopics, freshNamespace, withAdmin } from './testing/topics.ts'

const { brokers } = inject('parts')

interface Observed extends Membership {
  readonly changes: (readonly number[])[]
}

describe('membership of a consumer group', () => {
  const joined: Membership[] = []
  afterEach(async () => {
    await Promise.all(joined.splice(0).map((member) => member.leave()))
  })

  const join = async (namespace: string, clientId: string, takes?: readonly number[]): Promise<Observed> => {
    const topics = ['trades', 'flow']
    const member = await groupMembership({
      brokers,
      namespace,
      clientId,
      group: 'cvd',
      topics,
      takes,
    })
    joined.push(member)
    const changes: (readonly number[])[] = []
    member.onChange((partitions) => changes.push(partitions))
    return Object.assign(member, { changes })
  }

  const prepare = async (): Promise<string> => {
    const namespace = freshNamespace()
    await createTestTopics(brokers, [`${namespace}trades`, `${namespace}flow`])
    return namespace
  }

  it('gives a member that is alone all partitions', async () => {
    const alone = await join(await prepare(), 'a')
    expect(alone.changes).toEqual([[0, 1, 2]])
  })

  it('shares between two members, leaves each what it keeps, and gives all back when one leaves', async () => {
    const namespace = await prepare()
    const first = await join(namespace, 'a')
    const second = await join(namespace, 'b')
    await expect.poll(() => held(first).length + held(second).length).toBe(3)
    const [mine, others] = [held(first), held(second)]
    expect([...mine, ...others].toSorted((a, b) => a - b)).toEqual([0, 1, 2])
    expect(mine.length).toBeGreaterThan(0)
    expect(others.length).toBeGreaterThan(0)
    joined.splice(joined.indexOf(second), 1)
    await second.leave()
    await expect.poll(() => held(first)).toEqual([0, 1, 2])
    expect(mine.every((partition) => held(first).includes(partition))).toBe(true)
  })

  it('gives each member only what it says that it can take', async () => {
    const namespace = await prepare()
    const first = await join(namespace, 'a', [2, 1])
    expect(held(first)).toEqual([1, 2])
    const second = await join(namespace, 'b', [0])
    await expect.poll(() => [held(first), held(second)]).toEqual([[1, 2], [0]])
  })

  it('shows that it is alive', async () => {
    const member = await join(await prepare(), 'a')
    const before = member.lastSeen
    await expect.poll(() => member.lastSeen).toBeGreaterThan(before)
  })

  it('takes hints for lag displays', async () => {
    const namespace = await prepare()
    const member = await join(namespace, 'a')
    const hinted = async (): Promise<string | undefined> => {
      await member.hint([{ topic: 'trades', partition: 1, offset: 42 }]) // none is certain to arrive
      const offsets = await withAdmin(brokers, (admin) =>
        admin.fetchOffsets({ groupId: `${namespace}cvd`, topics: [`${namespace}trades`] }),
      )
      return offsets[0]?.partitions.find(({ partition }) => partition === 1)?.offset
    }
    await expect.poll(hinted).toBe('42')
  })
})

function held(member: Observed): readonly number[] {
  return member.changes.at(-1) ?? []
}

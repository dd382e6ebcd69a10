import fc from 'fast-check'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { assignPartitions, fixedMembership, laterMembership, type Member } from './membership.ts'

/** `takes`: what members say that they can take. */
const groupsOf = (takes: fc.Arbitrary<readonly number[] | undefined>) =>
  fc
    .tuple(
      fc.integer({ min: 0, max: 24 }),
      fc.uniqueArray(fc.string({ minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 6 }),
    )
    .chain(([count, ids]) =>
      fc.tuple(
        fc.constant(count),
        fc.tuple(
          ...ids.map((id) =>
            fc.record({
              id: fc.constant(id),
              held: fc.array(fc.integer({ min: -2, max: 30 }), { maxLength: 24 }),
              takes,
            }),
          ),
        ),
      ),
    )
const groups = groupsOf(fc.constant(undefined))
const choosy = groupsOf(fc.option(fc.array(fc.integer({ min: -2, max: 30 }), { maxLength: 24 }), { nil: undefined }))

it('shows that it is alive by a clock that nobody sets', () => {
  const all = [fixedMembership([0]), laterMembership(true, new Promise(() => undefined), () => undefined)]
  const before = performance.now()
  const wall = vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 3_600_000)
  onTestFinished(() => wall.mockRestore())
  for (const { lastSeen } of all) {
    expect(lastSeen).toBeGreaterThanOrEqual(before)
    expect(lastSeen).toBeLessThanOrEqual(performance.now())
  }
})

describe('dealing partitions out', () => {
  it('gives every partition to one member and differs by one at the most', () => {
    fc.assert(
      fc.property(groups, ([count, members]) => {
        const dealt = [...assignPartitions(count, members).values()]
        expect(dealt.flat().toSorted((a, b) => a - b)).toEqual(
          Array.from({ length: count }, (_, partition) => partition),
        )
        const sizes = dealt.map((own) => own.length)
        expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1)
      }),
    )
  })

  it('gives a number to one that can take it, where there is one, and to nobody else', () => {
    fc.assert(
      fc.property(choosy, ([count, members]) => {
        const dealt = assignPartitions(count, members)
        const all = Array.from({ length: count }, (_, partition) => partition)
        const wanted = all.filter((partition) => members.some((member) => canTake(member, partition)))
        expect([...dealt.values()].flat().toSorted((a, b) => a - b)).toEqual(wanted)
        for (const member of members)
          expect(dealt.get(member.id)?.every((partition) => canTake(member, partition))).toBe(true)
      }),
    )
  })

  it('gives nobody two more than another has who could take one of them', () => {
    fc.assert(
      fc.property(choosy, ([count, members]) => {
        const dealt = assignPartitions(count, members)
        for (const own of dealt.values()) {
          const poorer = members.filter(({ id }) => (dealt.get(id)?.length ?? 0) < own.length - 1)
          expect(poorer.filter((member) => own.some((partition) => canTake(member, partition)))).toEqual([])
        }
      }),
    )
  })

  it('is the same in whatever order the members come', () => {
    fc.assert(
      fc.property(choosy, ([count, members]) => {
        expect(assignPartitions(count, members.toReversed())).toEqual(assignPartitions(count, members))
      }),
    )
  })

  it('changes nothing when the same members come again', () => {
    fc.assert(
      fc.property(choosy, ([count, members]) => {
        const once = assignPartitions(count, members)
        const again = assignPartitions(
          count,
          members.map(({ id, takes }) => ({ id, takes, held: once.get(id) ?? [] })),
        )
        expect(sorted(again)).toEqual(sorted(once))
      }),
    )
  })

  it('takes from those who hold only what a new member needs', () => {
    const before: Member[] = [
      { id: 'a', held: [0, 2, 4, 6, 8, 10] },
      { id: 'b', held: [1, 3, 5, 7, 9, 11] },
    ]
    const dealt = assignPartitions(12, [...before, { id: 'c', held: [] }])
    for (const { id, held } of before) expect(dealt.get(id)?.every((partition) => held.includes(partition))).toBe(true)
    expect([...dealt.values()].map((own) => own.length)).toEqual([4, 4, 4])
  })
})

function sorted(dealt: ReadonlyMap<string, number[]>): [string, number[]][] {
  return [...dealt].map(([id, own]) => [id, own.toSorted((a, b) => a - b)])
}

function canTake({ takes }: Member, partition: number): boolean {
  return takes?.includes(partition) ?? true
}

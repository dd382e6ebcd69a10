/** A member of a group and the partitions that it holds, as it says itself. */
export interface Member {
  readonly id: string
  readonly held: readonly number[]
}

/**
 * Assigns partitions 0 to `count` - 1 to members, as evenly as can be (their numbers differ by one at the most), each
 * keeping what it holds as far as that goes. The same members give the same result, in whatever order they come.
 */
export function assignPartitions(count: number, members: readonly Member[]): Map<string, number[]> {
  const sorted = members.toSorted((a, b) => (a.id < b.id ? -1 : 1))
  const dealt = new Map(sorted.map(({ id }) => [id, new Array<number>()]))
  const owned = new Set<number>()
  let extra = count % sorted.length // so many members may have one more than the others
  const share = Math.floor(count / sorted.length)
  for (const { id, held } of sorted) {
    const own = dealt.get(id) ?? []
    for (const partition of held.toSorted((a, b) => a - b)) {
      if (partition < 0 || partition >= count || owned.has(partition)) continue
      if (own.length > share || (own.length === share && extra === 0)) break
      if (own.length === share) extra -= 1
      own.push(partition)
      owned.add(partition)
    }
  }
  for (let partition = 0; partition < count; partition += 1) {
    if (!owned.has(partition)) poorest(dealt).push(partition)
  }
  return dealt
}

function poorest(dealt: ReadonlyMap<string, number[]>): number[] {
  return [...dealt.values()].reduce((least, own) => (own.length < least.length ? own : least))
}

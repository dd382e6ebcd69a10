import { describe, expect, it } from 'vitest'
import { mismatch } from '../../infra/kafka/schema-lookup.ts'
import { schemaText } from '../../schemas/codec.ts'
import { openRelease, releases, subjects } from './testing/former-release.ts'

/** Beyond these releases the way back is the backup, for what is written under these subjects. */
const noWayBack: Readonly<Record<string, readonly string[]>> = {
  // `day` was given another name
  '0.1.0-b568d6a': ['payments.keys-api_key'],
}
const ours = new Map(subjects.map(({ subject, record }) => [subject, schemaText(record)]))

/** Why `check` says that schemas of a release, the newest of each subject, do not fit. */
async function problems(release: string, check: (theirs: string, ours: string) => string | undefined) {
  const { schemas } = await openRelease(release)
  const newest = new Map(schemas.map(({ subject, text }) => [subject, text]))
  expect(newest.size).toBeGreaterThan(50)
  return [...newest].flatMap(([subject, theirs]) => {
    const now = ours.get(subject)
    const problem = now === undefined ? 'there is no such record any more' : check(theirs, now)
    return problem === undefined ? [] : [{ subject, problem }]
  })
}

describe.each(releases)('the schemas of %s', (release) => {
  it('can be read by what runs now', async () => {
    expect(await problems(release, (theirs, now) => mismatch(now, theirs))).toEqual([])
  })

  it('read what is written now, but for what is said', async () => {
    const found = await problems(release, mismatch)
    expect(found.map(({ subject }) => subject)).toEqual(noWayBack[release] ?? [])
  })
})

import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { recordTypes } from './record-types.ts'

const text = recordTypes()

it('the types of records are in step with their schemas (npm run generate)', () => {
  expect(readFileSync(new URL('../schemas/generated.ts', import.meta.url), 'utf8')).toBe(text)
})

it('says of every field what it means, and of times that they are microseconds', () => {
  const lines = text.split('\n')
  const fields = lines.flatMap((line, index) => (/^ {2}readonly /.test(line) ? [lines[index - 1]] : []))
  expect(fields.length).toBeGreaterThan(300)
  for (const before of fields) expect(before).toMatch(/^ {2}\/\*\* .* \*\/$/)
  expect(text).toContain(
    '/** Start of the 10 s bucket by venue time, microseconds since the Unix epoch; the bucket is half open */\n  readonly bucket: Micros\n',
  )
})

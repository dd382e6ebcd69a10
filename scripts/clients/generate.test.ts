import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { generatedFiles } from './generate/files.ts'

const files = Object.entries(generatedFiles())

it.each(files)('%s is in step with the route table (npm run generate)', (name, text) => {
  expect(readFileSync(new URL(name, import.meta.url), 'utf8')).toBe(text)
})

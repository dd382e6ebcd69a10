import { readFileSync, writeFileSync } from 'node:fs'
import { runCommand } from './command/command.ts'
import { documents, withSections } from './docs/sections.ts'

const usage =
  'npm run readme: writes the parts of documents that follow from the tables of venues, settings and others.'

await runCommand({ usage, flags: {} }, () => {
  for (const [name, parts] of Object.entries(documents())) {
    const file = new URL(`../${name}`, import.meta.url)
    writeFileSync(file, withSections(readFileSync(file, 'utf8'), parts))
  }
  return Promise.resolve()
})

import { readFileSync, writeFileSync } from 'node:fs'
import { documents, withSections } from './document-sections.ts'

/** `npm run readme`: writes the parts of documents that follow from the tables. */
for (const [name, parts] of Object.entries(documents())) {
  const file = new URL(`../${name}`, import.meta.url)
  writeFileSync(file, withSections(readFileSync(file, 'utf8'), parts))
}

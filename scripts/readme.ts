import { readFileSync, writeFileSync } from 'node:fs'
import { withSections } from './readme-sections.ts'

const file = new URL('../README.md', import.meta.url)

/** `npm run readme`: writes the parts of the README that follow from the tables. */
writeFileSync(file, withSections(readFileSync(file, 'utf8')))

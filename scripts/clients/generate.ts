import { writeFileSync } from 'node:fs'
import { generatedFiles } from './generate/files.ts'

/** Writes the clients' parts that follow from the route table. */
for (const [name, text] of Object.entries(await generatedFiles())) writeFileSync(new URL(name, import.meta.url), text)

import { writeFileSync } from 'node:fs'
import { generatedFiles } from './generate/files.ts'

/** `npm ci` and `npm run generate`: writes what clients have that follows from the route table, which is not in git. */
for (const [name, text] of Object.entries(generatedFiles())) writeFileSync(new URL(name, import.meta.url), text)

import { writeFileSync } from 'node:fs'
import { generatedFiles } from './clients/generate/files.ts'
import { recordTypes } from './record-types.ts'

/** `npm ci` and `npm run generate`: writes what follows from the Avro schemas and from the route table, which is not in git. */
const files = { '../schemas/generated.ts': recordTypes() }
for (const [name, text] of Object.entries(files)) writeFileSync(new URL(name, import.meta.url), text)
for (const [name, text] of Object.entries(generatedFiles()))
  writeFileSync(new URL(`clients/${name}`, import.meta.url), text)

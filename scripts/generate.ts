import { writeFileSync } from 'node:fs'
import { generatedFiles } from './clients/generate/files.ts'
import { recordTypes } from './record-types.ts'

/** `npm run generate`: writes the code that follows from the Avro schemas and from the route table. */
const files = { '../schemas/generated.ts': await recordTypes() }
for (const [name, text] of Object.entries(files)) writeFileSync(new URL(name, import.meta.url), text)
for (const [name, text] of Object.entries(await generatedFiles()))
  writeFileSync(new URL(`clients/${name}`, import.meta.url), text)

import { writeFileSync } from 'node:fs'
import { generatedFiles } from './clients/generate/files.ts'
import { runCommand } from './command/command.ts'
import { recordTypes } from './record-types.ts'

const usage =
  'npm run generate, and npm ci: writes what follows from the Avro schemas (types of records) and from the route table (clients), which is not in git.'

await runCommand({ usage, flags: {} }, () => {
  writeFileSync(new URL('../schemas/generated.ts', import.meta.url), recordTypes())
  for (const [name, text] of Object.entries(generatedFiles()))
    writeFileSync(new URL(`clients/${name}`, import.meta.url), text)
  return Promise.resolve()
})

import { writeFileSync } from 'node:fs'
import { recordTypes } from './record-types.ts'

/** `npm run generate`: writes the types that follow from the Avro schemas. */
writeFileSync(new URL('../schemas/generated.ts', import.meta.url), await recordTypes())

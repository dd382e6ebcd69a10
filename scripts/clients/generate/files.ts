import { readFileSync } from 'node:fs'
import { pythonApi } from './python.ts'
import { typescriptApi } from './typescript.ts'

const verify = (name: string): string =>
  readFileSync(new URL(`../../../api/docs/verify/${name}`, import.meta.url), 'utf8')

/** What clients have that follows from the product, by path below scripts/clients. */
export async function generatedFiles(): Promise<Readonly<Record<string, string>>> {
  return {
    'typescript/src/api.ts': await typescriptApi(),
    'typescript/src/verify.ts': verify('verify.ts'),
    'python/market_data_alerts/api.py': pythonApi(),
    'python/market_data_alerts/verify.py': verify('verify.py'),
  }
}

import { pythonApi } from './python.ts'
import { typescriptApi } from './typescript.ts'

/** What clients have that follows from the product, by path below scripts/clients. */
export function generatedFiles(): Readonly<Record<string, string>> {
  return {
    'typescript/src/api.ts': typescriptApi(),
    'python/market_data_alerts/api.py': pythonApi(),
  }
}

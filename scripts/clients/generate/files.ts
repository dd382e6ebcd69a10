import { pythonApi } from './python.ts'
import { typescriptApi } from './typescript.ts'

/** What clients have that follows from the product, by path below scripts/clients. */
export async function generatedFiles(): Promise<Readonly<Record<string, string>>> {
  return {
    'typescript/src/api.ts': await typescriptApi(),
    'python/market_data_alerts/api.py': pythonApi(),
  }
}

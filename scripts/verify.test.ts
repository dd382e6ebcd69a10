import { spawnSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { programFile } from '../infra/local/system.ts'

it('refuses a source that there is not, before it looks for a system', () => {
  const { status, stderr } = spawnSync(process.execPath, [programFile('scripts/verify.ts'), '--source', 'candels'], {
    encoding: 'utf8',
  })
  expect({ status, stderr }).toEqual({ status: 2, stderr: '--source must be ledger or candles, got candels\n' })
})

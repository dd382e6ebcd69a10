import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, it } from 'vitest'
import { TapeError } from '../../../infra/tapes/tape.ts'
import { linesOf } from './archive-lines.ts'

it('says that a zip is damaged whose directory gives its entry no bytes', async () => {
  const zip = Buffer.alloc(30 + 46 + 22)
  zip.writeUInt32LE(0x02014b50, 30)
  zip.writeUInt16LE(8, 30 + 10)
  zip.writeUInt32LE(0x06054b50, 76)
  zip.writeUInt16LE(1, 76 + 10)
  zip.writeUInt32LE(30, 76 + 16)
  const folder = mkdtempSync(path.join(tmpdir(), 'lines-'))
  const file = path.join(folder, 'odd.zip')
  writeFileSync(file, zip)
  await expect(linesOf(file).next()).rejects.toThrow(TapeError)
  rmSync(folder, { recursive: true })
})

import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { BackupFolder } from './folder.ts'
import { openSealed, SealedWriter } from './sealed-file.ts'

const KEY = 'k'.repeat(32)
const text = Buffer.alloc(2_500_000, 'what the log says ')
let folder: string

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'sealed-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

async function seal(name: string, bytes = text): Promise<string> {
  const file = await SealedWriter.create(folder, name, KEY)
  for (let at = 0; at < bytes.length; at += 300_000) await file.write(bytes.subarray(at, at + 300_000))
  await file.end()
  return path.join(folder, name)
}

async function opened(name: string, key = KEY): Promise<Buffer> {
  const parts: Buffer[] = []
  for await (const bytes of openSealed(folder, name, key)) parts.push(bytes)
  return Buffer.concat(parts)
}

describe('a sealed file', () => {
  it.each([0, 1, 1024 * 1024, 2_500_000])('gives back its %i bytes, and shows none of them', async (length) => {
    const bytes = text.subarray(0, length)
    const file = await seal('one', bytes)
    expect((await opened('one')).equals(bytes)).toBe(true)
    expect(readFileSync(file).includes('the log says')).toBe(false)
  })

  it('has no name before it is whole', async () => {
    const file = await SealedWriter.create(folder, 'one', KEY)
    await file.write(text)
    await file.close()
    expect(readdirSync(folder)).toEqual(['one.part'])
  })

  it('is damaged where a byte was changed, left out or cut off', async () => {
    const file = await seal('one')
    const whole = readFileSync(file)
    const changed = Buffer.from(whole)
    changed[1_500_000] = (changed[1_500_000] ?? 0) ^ 1
    const frame = 4 + 1024 * 1024 + 16
    const damages = [
      changed,
      whole.subarray(0, 16 + frame),
      whole.subarray(0, -1),
      Buffer.concat([whole.subarray(0, 16), whole.subarray(16 + frame)]),
      Buffer.alloc(3),
    ]
    for (const bytes of damages) {
      writeFileSync(file, bytes)
      await expect(opened('one')).rejects.toMatchObject({ code: 'damaged' })
    }
  })

  it('cannot stand in the place of another, nor be opened by another key', async () => {
    renameSync(await seal('one'), path.join(folder, 'two'))
    await expect(opened('two')).rejects.toMatchObject({ code: 'damaged' })
    await seal('one')
    await expect(opened('one', 'l'.repeat(32))).rejects.toMatchObject({ code: 'damaged' })
  })
})

describe('a folder of backups', () => {
  it('is opened by the key that it was begun with', async () => {
    await BackupFolder.begin(folder, KEY)
    await expect(BackupFolder.open(folder, 'l'.repeat(32))).rejects.toThrow(/begun with another key/)
    await expect((await BackupFolder.begin(folder, KEY)).indexes()).resolves.toEqual([])
  })

  it('is begun on where a full disk left none of its first file', async () => {
    const program = `
      const { BackupFolder } = await import(${JSON.stringify(new URL('folder.ts', import.meta.url).href)})
      await BackupFolder.begin('.', ${JSON.stringify(KEY)}).catch(({ code }) => console.log(code))`
    // no file may grow, as on a full disk
    const args = ['-c', 'ulimit -f 0; exec "$@"', 'sh', process.execPath, '--input-type=module', '-e', program]
    expect(execFileSync('sh', args, { cwd: folder, encoding: 'utf8' }).trim()).toBe('EFBIG')
    await expect((await BackupFolder.begin(folder, KEY)).indexes()).resolves.toEqual([])
  })

  it('is not begun where something else lies, nor opened where nothing does', async () => {
    await expect(BackupFolder.open(folder, KEY)).rejects.toThrow(/holds no backup/)
    writeFileSync(path.join(folder, 'photo.jpg'), '')
    await expect(BackupFolder.begin(folder, KEY)).rejects.toThrow(/holds something else/)
  })
})

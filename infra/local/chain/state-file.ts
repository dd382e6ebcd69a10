import { copyFile, readFile, rename } from 'node:fs/promises'

/**
 * The chain writes its state in place, so a kill in the middle leaves half of it, which the chain would refuse for ever.
 * A state that can be read is copied; one that cannot gives way to the last copy, or to a new chain, and stays beside it
 * as `.broken`.
 */
export async function keepReadable(file: string): Promise<'new' | 'kept' | 'went-back'> {
  const copy = `${file}.copy`
  if (await isReadable(file)) {
    await copyFile(file, `${copy}.part`)
    await rename(`${copy}.part`, copy)
    return 'kept'
  }
  const isThere = await rename(file, `${file}.broken`).then(
    () => true,
    () => false, // no file: the first start
  )
  if (!isThere || !(await isReadable(copy))) return 'new'
  await copyFile(copy, file)
  return 'went-back'
}

async function isReadable(file: string): Promise<boolean> {
  try {
    const state: unknown = JSON.parse(await readFile(file, 'utf8'))
    return typeof state === 'object' && state !== null
  } catch {
    return false // not there, or cut short
  }
}

import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import { open, rename, type FileHandle } from 'node:fs/promises'

const CIPHER = 'aes-256-gcm'
const KEY_BYTES = 32
const SALT_BYTES = 16
const TAG_BYTES = 16
const LENGTH_BYTES = 4
const FRAME_BYTES = 1024 * 1024

/** The key that the operator holds; a key of its own follows from it for each file. */
export type BackupKey = string

/**
 * Writes a file that only the key opens: a salt, then frames of at most 1 MiB, each its length, AES-256-GCM's text and tag.
 * A frame's nonce is its number and whether it is the last, and the file's name is in its key: frames that were changed,
 * left out, moved or cut off are noticed. It has its name when it is whole and on the disk.
 */
export class SealedWriter {
  readonly #file: FileHandle
  readonly #path: string
  readonly #key: Buffer
  #pending: Buffer[] = []
  #pendingBytes = 0
  #frame = 0
  /** Of what was sealed. */
  bytes = 0

  private constructor(file: FileHandle, path: string, key: Buffer) {
    this.#file = file
    this.#path = path
    this.#key = key
  }

  static async create(folder: string, name: string, key: BackupKey): Promise<SealedWriter> {
    const path = `${folder}/${name}`
    const file = await open(`${path}.part`, 'w', 0o600)
    const salt = randomBytes(SALT_BYTES)
    await file.appendFile(salt)
    return new SealedWriter(file, path, fileKey(key, salt, name))
  }

  async write(bytes: Buffer): Promise<void> {
    this.bytes += bytes.length
    for (let at = 0; at < bytes.length;) {
      const part = bytes.subarray(at, at + FRAME_BYTES - this.#pendingBytes)
      this.#pending.push(part)
      this.#pendingBytes += part.length
      at += part.length
      if (this.#pendingBytes === FRAME_BYTES) await this.#seal(false)
    }
  }

  async end(): Promise<void> {
    await this.#seal(true)
    await this.#file.sync()
    await this.#file.close()
    await rename(`${this.#path}.part`, this.#path)
  }

  /** Leaves what was written as it is: it never has its name. */
  close(): Promise<void> {
    return this.#file.close()
  }

  async #seal(isLast: boolean): Promise<void> {
    const cipher = createCipheriv(CIPHER, this.#key, nonceOf(this.#frame, isLast))
    const length = Buffer.alloc(LENGTH_BYTES)
    length.writeUInt32BE(this.#pendingBytes)
    const text = [...this.#pending.map((part) => cipher.update(part)), cipher.final()]
    await this.#file.appendFile(Buffer.concat([length, ...text, cipher.getAuthTag()])) // all of it, where write() may stop short
    this.#frame += 1
    this.#pending = []
    this.#pendingBytes = 0
  }
}

/** What a file holds, frame by frame. Throws `BackupError` `damaged` where it is not as it was written. */
export async function* openSealed(folder: string, name: string, key: BackupKey): AsyncGenerator<Buffer> {
  const path = `${folder}/${name}`
  const file = await open(path, 'r').catch((error: unknown) => {
    throw new BackupError('damaged', `${path} cannot be read: copy it from where the folder was synced to`, {
      cause: error,
    })
  })
  try {
    const { size } = await file.stat()
    const fresh = fileKey(key, await take(file, 0, SALT_BYTES), name)
    for (let at = SALT_BYTES, frame = 0; ; frame += 1) {
      const length = (await take(file, at, LENGTH_BYTES)).readUInt32BE()
      const end = at + LENGTH_BYTES + length + TAG_BYTES
      if (length > FRAME_BYTES || end > size) throw damaged(path, at)
      yield unseal(await take(file, at + LENGTH_BYTES, length + TAG_BYTES), fresh, frame, end === size, path, at)
      if (end === size) return
      at = end
    }
  } finally {
    await file.close()
  }

  async function take(handle: FileHandle, at: number, length: number): Promise<Buffer> {
    const bytes = Buffer.alloc(length)
    const { bytesRead } = await handle.read(bytes, 0, length, at)
    if (bytesRead < length) throw damaged(path, at)
    return bytes
  }
}

function unseal(sealed: Buffer, key: Buffer, frame: number, isLast: boolean, path: string, at: number): Buffer {
  const decipher = createDecipheriv(CIPHER, key, nonceOf(frame, isLast))
  decipher.setAuthTag(sealed.subarray(-TAG_BYTES))
  try {
    return Buffer.concat([decipher.update(sealed.subarray(0, -TAG_BYTES)), decipher.final()])
  } catch (error) {
    throw damaged(path, at, error)
  }
}

function damaged(path: string, at: number, cause?: unknown): BackupError {
  const message = `${path} is damaged at byte ${at}: copy it from where the folder was synced to, or restore an earlier backup`
  return new BackupError('damaged', message, { cause })
}

function fileKey(key: BackupKey, salt: Buffer, name: string): Buffer {
  return Buffer.from(hkdfSync('sha256', key, salt, `market-data-alerts backup ${name}`, KEY_BYTES))
}

function nonceOf(frame: number, isLast: boolean): Buffer {
  const nonce = Buffer.alloc(12)
  nonce.writeUInt8(isLast ? 1 : 0)
  nonce.writeUInt32BE(frame, 8)
  return nonce
}

/**
 * Why a backup cannot be written or read; the message says how to go on.
 * - `key`: no key, too short, or not the one that the folder was begun with;
 * - `damaged`: a file is not as it was written, or is not there;
 * - `other-log`: the folder holds backups of another log;
 * - `not-empty`: where it shall be restored to there is something already;
 * - `busy`: what has to stand still does not.
 */
export class BackupError extends Error {
  readonly code: 'key' | 'damaged' | 'other-log' | 'not-empty' | 'busy'
  constructor(code: BackupError['code'], message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

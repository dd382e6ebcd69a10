import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { BookState } from './book.ts'

/** Books on disk, a file each; a kill loses what happened since a book was last written, about a minute. */
export class BookFiles {
  private readonly folder: string

  constructor(folder: string) {
    this.folder = folder
    mkdirSync(folder, { recursive: true })
  }

  save(key: string, state: BookState): void {
    const file = this.file(key)
    writeFileSync(`${file}.new`, JSON.stringify(state))
    renameSync(`${file}.new`, file)
  }

  read(key: string): BookState | undefined {
    const file = this.file(key)
    // Written by `save` alone, and whole: it is renamed into place.
    return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as BookState) : undefined
  }

  private file(key: string): string {
    return join(this.folder, `${key.replace(' ', '-')}.json`)
  }
}

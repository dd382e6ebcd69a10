import { closeSync, existsSync, openSync, readFileSync, writeFileSync, writeSync } from 'node:fs'

/** Records of the same width at consecutive steps, in memory and on disk; a kill loses at most the newest. */
export class StepFile {
  private readonly fd: number
  private readonly width: number
  private readonly rows: Float32Array[] = []
  /** Step of the oldest record; the next one to be appended is `end`. */
  readonly first: number
  end: number

  /**
   * `file`: gets the width into its name, so that another layout begins anew. `from`: the step that comes first where
   * nothing is kept. `kept`: older records are forgotten at each opening.
   */
  constructor(file: string, { width, from, kept }: { width: number; from: number; kept: number }) {
    const name = `${file}.${width}`
    this.width = width
    const bytes = existsSync(name) ? readFileSync(name) : Buffer.alloc(0)
    const record = recordBytes(width)
    const count = Math.floor(bytes.length / record)
    const begin = Math.max(0, count - kept)
    for (let index = begin; index < count; index += 1) {
      const row = new Float32Array(width)
      for (let column = 0; column < width; column += 1) {
        row[column] = bytes.readFloatLE(index * record + 8 + 4 * column)
      }
      this.rows.push(row)
    }
    this.first = this.rows.length === 0 ? from : bytes.readDoubleLE(begin * record)
    this.end = this.first + this.rows.length
    // A torn record at the end goes, and so does what is too old.
    writeFileSync(name, bytes.subarray(begin * record, count * record))
    this.fd = openSync(name, 'a')
  }

  /** The number of `column` at `step`; undefined where there is no record. */
  at(step: number, column: number): number | undefined {
    return this.rows[step - this.first]?.[column]
  }

  /** The record of step `end`. */
  append(values: readonly number[]): void {
    const bytes = Buffer.alloc(recordBytes(this.width))
    bytes.writeDoubleLE(this.end, 0)
    values.forEach((value, column) => bytes.writeFloatLE(value, 8 + 4 * column))
    writeSync(this.fd, bytes)
    this.rows.push(Float32Array.from(values))
    this.end += 1
  }

  close(): void {
    closeSync(this.fd)
  }
}

function recordBytes(width: number): number {
  return 8 + 4 * width
}

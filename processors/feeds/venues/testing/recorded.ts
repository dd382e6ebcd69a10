import { existsSync, globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { gunzipSync } from 'node:zlib'

/** What venues really sent and answered, kept beside the checkout; without it the tests that read it are skipped. */
const data = path.resolve(import.meta.dirname, '../../../../../shared/data')
export const isRecorded = existsSync(data)
if (!isRecorded) console.log(`recorded messages: none in ${data}, skipped`)

export function filesOf(folder: string): string[] {
  const names = globSync('*.jsonl{,.gz}', { cwd: path.join(data, folder) })
  return names.toSorted().map((file) => `${folder}/${file}`)
}

/** The texts of the messages of a file, as sent. */
export function messagesIn(file: string): string[] {
  const bytes = readFileSync(path.join(data, file))
  const text = (file.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString()
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => /"raw":(?<raw>.*)\}$/s.exec(line)?.groups?.['raw'] ?? '')
}

/** The same of all files of a folder. */
export function messagesOf(folder: string): string[] {
  return filesOf(folder).flatMap(messagesIn)
}

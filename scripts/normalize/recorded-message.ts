import { isRecord, jsonOf, textOf } from '../../processors/feeds/venues/fields.ts'
import type { Micros } from '../../schemas/records.ts'

/** One message with what its recorder knew. */
export interface RecordedMessage {
  /** The text that the venue sent. */
  readonly text: string
  /** When the recorder had it, microseconds; undefined where it did not say. */
  readonly received?: Micros
  /** What was asked, for answers of REST. */
  readonly url?: string
}

/**
 * Reads one line: `{"recv_ns"?, "url"?, "raw": <message>}`, or the bare message. The text of a message is kept as it
 * was written where `raw` is the last key, as recorders write it; a text frame (`pong`) stands as a JSON string.
 */
export function readRecordedMessage(line: string): RecordedMessage {
  const value = jsonOf(line)
  if (!isRecord(value) || !('raw' in value)) return { text: line }
  const received = receivedOf(line)
  const url = textOf(value['url'])
  return {
    text: messageOf(line, value),
    ...(received === undefined ? {} : { received }),
    ...(url === '' ? {} : { url }),
  }
}

function messageOf(line: string, value: Record<string, unknown>): string {
  const raw = value['raw']
  if (typeof raw === 'string') return raw
  const isLast = Object.keys(value).at(-1) === 'raw'
  const written = isLast ? /"raw":(?<message>.*)\}\s*$/s.exec(line)?.groups?.['message'] : undefined
  return written ?? JSON.stringify(raw)
}

/** Nanoseconds do not fit a double: the last three digits are cut from the text. */
function receivedOf(line: string): Micros | undefined {
  const nanos = /^\{"recv_ns":(\d{4,19})[,}]/.exec(line)?.[1]
  return nanos === undefined ? undefined : Number(nanos.slice(0, -3))
}

/** Longest payment header that is looked at, characters; an official client's with all its echoes has 2,600. */
export const HEADER_LENGTH_MAX = 8 * 1024
/** Levels of a payload; the protocol's own has 4, extensions some more. */
const DEPTH_MAX = 16

/** A JSON object as the value of a header. */
export function encodeHeader(value: object): string {
  return Buffer.from(JSON.stringify(value), 'utf8').toString('base64')
}

export type HeaderFault = 'too-long' | 'not-base64' | 'not-json' | 'not-an-object' | 'too-deep'

/** The JSON object in a header: standard alphabet, padded, in its one canonical spelling, UTF-8. */
export function decodeHeader(text: string): { readonly object: object } | { readonly fault: HeaderFault } {
  if (text.length > HEADER_LENGTH_MAX) return { fault: 'too-long' }
  const bytes = Buffer.from(text, 'base64')
  if (bytes.length === 0 || bytes.toString('base64') !== text) return { fault: 'not-base64' }
  const value = jsonOf(bytes)
  if (value === undefined) return { fault: 'not-json' }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return { fault: 'not-an-object' }
  return isDeep(value, DEPTH_MAX) ? { fault: 'too-deep' } : { object: value }
}

function jsonOf(bytes: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    return undefined
  }
}

function isDeep(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return levels === 0 || Object.values(value).some((inner) => isDeep(inner, levels - 1))
}

import { venueNames, type VenueName } from './markets.ts'

/** What can be asked of `POST /faults`, and what each does by itself when nothing more is said. */
export const faultKinds = {
  disconnect: 'cuts open sockets (`count` of them, else all); with `duration_ms` none is let in again until then',
  silence: 'sockets stay open and nothing is sent; with `symbol` only that one’s trades are missing',
  lost: 'trade frames are not sent',
  doubled: 'trade frames are sent twice',
  reordered: 'trade frames are overtaken by up to three later ones',
  malformed: 'trade frames come damaged, or damaged ones come beside them',
  closing: 'the venue announces that it closes its sockets, and does after `duration_ms`',
  slow_rest: 'REST answers take 2 to 5 seconds',
  rest_429: 'REST answers that there were too many requests',
  rest_418: 'REST answers that the address is banned',
  rest_403: 'REST refuses the address',
  rest_451: 'REST refuses the country',
  ws_403: 'new sockets are refused with HTTP 403',
} as const

export type FaultKind = keyof typeof faultKinds

export interface FaultOrder {
  readonly kind: FaultKind
  readonly venue: VenueName | undefined
  /** An asset as in the ledger, or a venue's symbol. */
  readonly symbol: string | undefined
  readonly durationMs: number | undefined
  readonly count: number | undefined
  readonly seed: number | undefined
}

export type OrderResult = { readonly order: FaultOrder } | { readonly error: string; readonly kinds: readonly string[] }

/** Reads the body of `POST /faults`. */
export function faultOrder(body: unknown): OrderResult {
  const fields = (typeof body === 'object' && body !== null ? body : {}) as Record<string, unknown>
  const { kind, venue, symbol } = fields
  if (typeof kind !== 'string' || !isKind(kind)) return refusal(`unknown kind ${JSON.stringify(kind)}`)
  if (venue !== undefined && !isVenue(venue)) return refusal(`unknown venue ${JSON.stringify(venue)}`)
  if (symbol !== undefined && typeof symbol !== 'string') return refusal('symbol must be a text')
  const numbers = ['duration_ms', 'count', 'seed'] as const
  for (const name of numbers) {
    if (fields[name] !== undefined && !isCount(fields[name]))
      return refusal(`${name} must be a whole number of 0 or more`)
  }
  const [durationMs, count, seed] = numbers
    .map((name) => fields[name])
    .map((value) => (isCount(value) ? value : undefined))
  return { order: { kind, venue, symbol, durationMs, count, seed } }
}

function refusal(error: string): OrderResult {
  return { error, kinds: Object.keys(faultKinds) }
}

function isKind(kind: string): kind is FaultKind {
  return Object.hasOwn(faultKinds, kind)
}

function isVenue(name: unknown): name is VenueName {
  return venueNames.some((venue) => venue === name)
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}

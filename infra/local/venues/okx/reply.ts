import { ok } from '../query.ts'
import type { RestReply } from '../venue-server.ts'

export function say(data: readonly unknown[]): RestReply {
  return ok({ code: '0', msg: '', data })
}

export function refuse(status: number, code: string, msg: string): RestReply {
  return { status, body: { code, msg, data: [] } }
}

export function empty(parameter: string): RestReply {
  return refuse(400, '50014', `Parameter ${parameter} cannot be empty.`)
}

export const unknownInstrument: RestReply = refuse(
  200,
  '51001',
  "Instrument ID, Instrument ID code, or Spread ID doesn't exist.",
)

import { digestOf } from '../../processors/webhooks/channels/channels.ts'
import { readDeliveryTerms, readQuietHours } from '../../processors/webhooks/quiet-hours.ts'
import type { Body } from '../body.ts'
import { boolean, nullable, object, text, type Schema } from '../schema.ts'
import { field, wrong } from './fields.ts'

const time = { pattern: '^([01][0-9]|2[0-3]):[0-5][0-9]$' }

const hours = {
  from: text('First minute, HH:MM', { ...time, examples: ['22:00'] }),
  to: text('First minute after them, HH:MM', { ...time, examples: ['07:00'] }),
  time_zone: text('IANA name, such as Europe/Berlin', { examples: ['Europe/Berlin'] }),
}

/** How messages come: fields of a creation and of a change. */
export const deliverySchemas: Readonly<Record<string, Schema>> = {
  quiet_hours: nullable(object('What rings in these hours of a day is told in one message at their end', hours)),
  digest: boolean('Beyond 10 messages a minute the rest is told in one; left out: so for chats and email'),
}

/** The same in answers. */
export const deliveryShownSchemas: Readonly<Record<string, Schema>> = {
  quiet_hours: nullable(object('What rings in these hours is told in one message at their end', hours)),
  digest: boolean('Beyond 10 messages a minute the rest is told in one'),
}

/** Reads them as the log has them; null: as is usual for the receiver. */
export function readDelivery(body: Body, receiver: string): string | null {
  const quiet = field(body, 'quiet_hours')
  const digest = field(body, 'digest')
  if (digest !== undefined && typeof digest !== 'boolean')
    throw wrong('invalid_digest', 'digest', 'digest must be true or false.')
  if (digest === true && digestOf(receiver).most === 1)
    throw wrong('invalid_digest', 'digest', 'This channel takes no digests: each message is an incident of its own.')
  if (quiet === undefined && digest === undefined) return null
  return JSON.stringify({
    ...(quiet !== undefined && { quiet_hours: readHours(quiet) }),
    ...(digest !== undefined && { digest }),
  })
}

function readHours(given: unknown): string {
  const { from, to, time_zone: zone, ...more } = { ...Object(given) } as Record<string, unknown>
  const written = `${String(from)}-${String(to)} ${String(zone)}`
  if (Object.keys(more).length === 0 && readQuietHours(written) !== undefined) return written
  const example = '{"from": "22:00", "to": "07:00", "time_zone": "Europe/Berlin"}'
  throw wrong('invalid_quiet_hours', 'quiet_hours', `quiet_hours must be such as ${example}, from and to not the same.`)
}

/** As answers show them. */
export function deliveryShown({ delivery, receiver }: { delivery: string | null; receiver: string }): object {
  const { quiet_hours: quiet, digest = digestOf(receiver).isUsual } = readDeliveryTerms(delivery)
  const hourOf = (minutes: number): string =>
    [Math.floor(minutes / 60), minutes % 60].map((part) => String(part).padStart(2, '0')).join(':')
  const shown = quiet && { from: hourOf(quiet.from), to: hourOf(quiet.to), time_zone: quiet.zone }
  return { quiet_hours: shown ?? null, digest }
}

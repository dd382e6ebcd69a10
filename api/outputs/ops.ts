import type { Output } from '../route.ts'
import { integer, keyed, nullableInstant, nullableInteger, object, oneOf, text } from '../schema.ts'
import { venueNames } from '../views/venues.ts'
import { stamped } from './shared.ts'

const partStates = { type: 'object', additionalProperties: { type: 'string' }, description: 'Parts by name' }

export const healthOutput: Output = {
  says: 'How the system is',
  type: 'application/json',
  schema: object(
    'How the system is',
    {
      status: oneOf(['ok', 'degraded', 'unavailable'], 'unavailable: ClickHouse cannot be read'),
      mode: oneOf(['demo', 'live', 'tape'], 'Where the market comes from'),
      version: text('Version of the service'),
      parts: partStates,
      log: object('How far the log is', {
        status: oneOf(['ok', 'late', 'quiet', 'empty'], 'late: derived data lag; quiet: no feed writes'),
        age_ms: nullableInteger('Age of the newest mark, milliseconds'),
        lag_ms: nullableInteger('How far derived data are behind, milliseconds'),
        as_of: nullableInstant('The newest mark'),
      }),
      active_ws_connections: integer('WebSocket connections to venues that are open now'),
      venues: keyed(
        venueNames,
        object('One venue', {
          state: text('live, connecting, down, unavailable, off or unknown'),
          sockets: integer('Open WebSocket connections'),
          feeds: integer('Feed processes that report it'),
          since: nullableInstant('Since when it is in that state'),
        }),
        'Connections by venue',
      ),
      open_gaps: integer('Gaps that are being repaired'),
      ...stamped,
    },
    ['log', 'active_ws_connections', 'venues', 'open_gaps'],
  ),
}

export const readyOutput: Output = {
  says: 'Whether this instance can answer',
  type: 'application/json',
  schema: object(
    'Readiness',
    { status: oneOf(['ready', 'unavailable'], 'Whether it can'), reason: text('Why not'), ...stamped },
    ['reason'],
  ),
}

export const textOutput = (says: string): Output => ({ says, type: 'text/plain', schema: { type: 'string' } })

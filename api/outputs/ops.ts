import type { Output } from '../route.ts'
import {
  array,
  instant,
  integer,
  keyed,
  nullableInstant,
  nullableInteger,
  nullableNumber,
  nullableText,
  number,
  object,
  oneOf,
  text,
  type Schema,
} from '../schema.ts'
import { venueNames } from '../views/venues.ts'
import { stamped } from './shared.ts'

const byName = (value: Schema, description: string): Schema => ({
  type: 'object',
  description,
  additionalProperties: value,
})

const venueState = object('One venue', {
  state: text('live, connecting, down, unavailable, off or unknown'),
  sockets: integer('Open WebSocket connections'),
  feeds: integer('Feed processes that report it'),
  since: nullableInstant('Since when it is in that state'),
})

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
      payments: oneOf(['off', 'play-money', 'on'], 'off: every route is free for everyone'),
      parts: partStates,
      log: object('How far the log is', {
        status: oneOf(['ok', 'late', 'quiet', 'empty'], 'late: derived data lag; quiet: no feed writes'),
        age_ms: nullableInteger('Age of the newest mark, milliseconds'),
        lag_ms: nullableInteger('How far derived data are behind, milliseconds'),
        as_of: nullableInstant('The newest mark'),
      }),
      active_ws_connections: integer('Open WebSocket connections of the venues’ trade streams'),
      venues: keyed(venueNames, venueState, 'Trade streams by venue'),
      channels: byName(byName(venueState, 'By venue'), 'Channels and polls, by the topic that they feed'),
      topics: byName(
        object('How far it is', {
          as_of: instant('Its newest mark'),
          age_ms: integer('How old that is, milliseconds', { minimum: 0 }),
        }),
        'Topics by name',
      ),
      open_gaps: integer('Gaps that are being repaired'),
      dead_letters: object('Records that a processor, the dispatcher or the payments have set aside', {
        count: integer('How many there are; SELECT * FROM dead_letters has them all', { minimum: 0 }),
        newest: {
          ...object('The newest by its record time', {
            processor: text('Who set it aside'),
            topic: text('Its topic'),
            partition: integer('Its partition', { minimum: 0 }),
            offset: integer('Its offset', { minimum: 0 }),
            time: instant('Its record time'),
            reason: text('undecodable, unknown_schema, failed or held'),
            code: text('What was wrong, as a code'),
            at: nullableText('Line of code that threw; null: it is not known'),
          }),
          type: ['object', 'null'],
        },
      }),
      unread: object('Records of followed topics that this instance of the API passed over since its start', {
        count: integer('How many', { minimum: 0 }),
        newest: {
          ...object('The newest', {
            topic: text('Its topic'),
            partition: integer('Its partition', { minimum: 0 }),
            offset: integer('Its offset', { minimum: 0 }),
          }),
          type: ['object', 'null'],
        },
      }),
      oldest_undelivered_ms: integer(
        'Age of the oldest undelivered trigger, no receiver excluded; 0: all are delivered',
        {
          minimum: 0,
        },
      ),
      audit: byName(
        object('Our minutes of the last 24 h beside the venue’s own candles', {
          compared: integer('Minutes and instruments compared'),
          different: integer('Those that differ by more than a billionth'),
          unexplained: integer('Those that no recorded gap or subscription explains'),
          worst_volume_difference: nullableNumber(
            'Worst of the unexplained ones, fraction of their volume; null: there is none',
          ),
          worst_delta_difference: nullableNumber(
            'The same of buys minus sells; null: there is none, or the venue says nothing',
          ),
          worst_instrument: nullableText('venue:market:symbol of the worst'),
          worst_minute: nullableInstant('Its minute'),
        }),
        'Self-audit by venue',
      ),
      ...stamped,
    },
    [
      'log',
      'active_ws_connections',
      'venues',
      'channels',
      'topics',
      'open_gaps',
      'dead_letters',
      'unread',
      'oldest_undelivered_ms',
      'audit',
    ],
  ),
}

export const pricingOutput: Output = {
  says: 'All prices',
  type: 'application/json',
  schema: object(
    'All prices',
    {
      payments: oneOf(['off', 'play-money', 'on'], 'off: every route is free'),
      currency: text('What prices are in'),
      pay: object('How it is paid; not there while payments are off', {
        protocol: text('x402, whose versions 1 and 2 are taken'),
        scheme: text('exact'),
        network: text('CAIP-2 name of the network'),
        asset: text('Token contract'),
        asset_name: text('Name in its EIP-712 domain'),
        pay_to: text('Who is paid'),
      }),
      routes: array(
        object('One route', {
          method: text('HTTP method'),
          path: text('Path, parameters in braces'),
          says: text('What it is'),
          price_usdc: number('USDC for one request; 0: free'),
        }),
        'All routes',
      ),
    },
    ['pay'],
  ),
}

export const resourcesOutput: Output = {
  says: 'What can be bought',
  type: 'application/json',
  schema: object('What can be bought', {
    version: integer('Of this document: 1'),
    x402Version: integer('Newest version of the protocol that is spoken'),
    resources: array(text('An address'), 'An example of each route that is paid for'),
    openapi: text('Address of the OpenAPI document'),
  }),
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

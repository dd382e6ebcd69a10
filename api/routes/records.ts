import { jsonOutput, type Call, route } from '../request/route.ts'
import { recordPosition } from '../../schemas/record-id.ts'
import { ApiError } from '../request/errors.ts'
import { jsonReply, type Reply } from '../request/reply.ts'
import { instant, integer, object, text } from '../request/schema.ts'
import { recordId } from './parameters.ts'

const recordOutput = jsonOutput(
  'The record of the log that a trigger names',
  object('A record', {
    id: text('As asked for'),
    topic: text('Its topic'),
    partition: integer('Its partition'),
    offset: integer('Its offset'),
    time: instant('Kafka record timestamp'),
    type: text('What kind of record it is'),
    record: { type: 'object', description: 'As it is in the log; times are microseconds since the Unix epoch' },
  }),
)

export const recordRoute = route({
  priceUsdc: 0,
  limit: 'caller',
  ttlMs: 0,
  method: 'GET',
  path: '/records/:id',
  name: 'record',
  description: 'The log record that a trigger names, to check it against',
  input: { id: recordId },
  outputs: { 200: recordOutput },
  errors: ['data_unavailable'],
  prepare: (call) => recordAnswer(call, call.input.id),
})

/** A record of the log does not change, milliseconds. */
const FRESH_MS = 3_600_000

/** The record of the log that a trigger names, read from the log itself. */
async function recordAnswer({ services }: Pick<Call, 'services'>, id: string): Promise<Reply> {
  const position = recordPosition(id)
  const found = position === undefined ? undefined : await services.alerts.log.record(position)
  if (position === undefined || found === undefined)
    throw new ApiError('not_found', 'There is no such record, or it is not kept any more, or it is not public.', {
      field: 'id',
    })
  const { type, value } = found.message
  const body = { id, ...position, time: new Date(found.time).toISOString(), type, record: value }
  return jsonReply(200, body, { freshForMs: FRESH_MS })
}

import { periods, type PeriodName } from '../../processors/cvd/periods.ts'
import { symbolOf } from '../../schemas/catalogue.ts'
import type { Signal } from '../../schemas/records.ts'
import { ApiError } from '../request/errors.ts'
import { rateLimited } from '../request/limits.ts'
import { cvdOutput } from './flow-output.ts'
import * as params from './parameters.ts'
import type { Paid } from '../payments/payments.ts'
import type { Reply, View } from '../request/reply.ts'
import { dataRoute, EVENTS_TYPE, type Call, type Output, type Run } from '../request/route.ts'
import { boolean, instant, nullableInstant, nullableText, number, object, oneOf, text } from '../request/schema.ts'
import type { Services } from '../services.ts'
import { changed, newestOnly, type Channel, type Happened } from '../stream/channels.ts'
import type { Subscription, Tell } from '../stream/hub.ts'
import { rowOf } from '../views/liquidations.ts'
import { iso } from '../views/time.ts'
import { assetContext, noData, wordsAboutNow, type AssetContext, dataErrors, warmingUp } from './answers.ts'
import { cvdView } from './cvd.ts'
import { keepingWanted, warming } from './data.ts'
import { fundingOutput, fundingView } from './funding.ts'
import { eventOf, liquidationFields } from './liquidations.ts'
import { priceOutput, priceView } from './price.ts'

/** What is paid for, and the longest that a stream lasts, milliseconds. */
const LASTS_MS = 3_600_000
/** Liquidations and signals of before that a stream begins with, each. */
const HELD_MAX = 50
/** When there may be room again, seconds. */
const ROOM_RETRY_SECONDS = 10

/** The data of each event. */
export const eventSchemas = {
  cvd: cvdOutput.schema,
  price: priceOutput.schema,
  funding: fundingOutput.schema,
  liquidations: object('One liquidation', { ...liquidationFields, as_of: instant('When we had it') }),
  signals: object('A change of a signal’s class', {
    symbol: text('Base asset'),
    kind: text('What it is a signal of: cvd, funding or liquidations'),
    period: text('The window that it looks at'),
    exchange: nullableText('Venue that it is about; null: all of them'),
    from: text('The class that it had'),
    to: text('The class that it has'),
    value: number('What was classified; of cvd period delta over period volume, a fraction'),
    as_of: instant('End of the window that was looked at'),
  }),
  ready: object('All that the reader lacked has been told; from here on it is what changes', {
    resumed: boolean('Whether it goes on where Last-Event-ID was; else all that is known was told'),
  }),
  missed: object('Updates that this reader will not get', {
    reason: oneOf(['slow', 'not_held'], 'slow: newer ones took their place; not_held: too long ago, all is told anew'),
    from: nullableInstant('Since when; null: the id did not say'),
    to: instant('Until when'),
    counts: {
      type: 'object',
      description: 'How many by channel; of not_held nothing',
      additionalProperties: number('Updates'),
    },
  }),
  end: object('The last event', {
    reason: oneOf(['time_over', 'replaced', 'restarting'], 'Why it ends'),
    message: text('How to go on'),
  }),
} as const

const streamOutput: Output = {
  description:
    'Server-sent events, by the name of each its data as JSON. Of `cvd`, `price` and `funding` the newest answer per symbol, at most five times a second; every liquidation and every change of a signal',
  type: EVENTS_TYPE,
  schema: object('The data of each event, by its name', eventSchemas, Object.keys(eventSchemas)),
}

export const stream = dataRoute({
  path: '/stream',
  name: 'stream',
  description: 'What changes, as it changes: server-sent events for an hour',
  priceUsdc: 0.1,
  lastsMs: LASTS_MS,
  ttlMs: 0,
  input: {
    symbols: params.streamSymbols,
    channels: params.streamChannels,
    period: params.period,
    seconds: params.streamSeconds,
  },
  headers: {
    'Last-Event-ID':
      'The id of the last event that was read, on any instance: what was missed since is told, or that it is not held any more. With the payment of the hour that is under way it costs nothing more',
  },
  outputs: { 200: streamOutput, 202: warmingUp },
  errors: [...dataErrors, 'rate_limited'],
  prepare: (call) => prepare(call, call.input),
  keep: ({ services, caller }, id) => {
    assertRoom(services, caller, id)
    return services.streams.keep(id, caller)
  },
})

interface Asked {
  readonly symbols: readonly string[]
  readonly channels: readonly Channel[]
  readonly period: PeriodName
  readonly seconds: number
}

/** As the answers about each symbol: 404, 202 and 503 before anything is paid. */
async function prepare(call: Call, asked: Asked): Promise<Reply | Run> {
  const { services, caller } = call
  const contexts = asked.symbols.map((symbol) => assetContext(services, symbol))
  if (asked.channels.includes('cvd'))
    for (const { symbol } of contexts) {
      const reply = await warming(call, symbol)
      if (reply !== undefined) return reply
    }
  // Who has paid already may take the place of its own stream: which that is `run` knows.
  if (call.payer?.hasPaid !== true) assertRoom(services, caller)
  const wish = wishOf(contexts, asked)
  if (wish.first.length > 0 && wish.first.every((update) => wish.tell(services, update) === undefined))
    throw noData(`word on ${asked.symbols.join(', ')}`)
  const run: Run = async (paid) => {
    assertRoom(services, caller, paid?.id)
    const lasting = { until: untilOf(services, paid, asked.seconds), ...(paid && { name: paid.id }) }
    const listen: Reply['listen'] = (listener) => services.streams.add(listener, { ...wish, ...lasting })
    return { status: 200, type: EVENTS_TYPE, body: '', listen }
  }
  if (!asked.channels.includes('cvd')) return run
  return contexts.reduce((inner, { asset }) => keepingWanted(call, asset, inner), run)
}

/** Milliseconds. */
function untilOf({ now }: Services, paid: Paid | null, seconds: number): number {
  return (paid === null ? now() : Math.floor(paid.time / 1000)) + seconds * 1000
}

/** `name`: of the stream whose place is taken. */
function assertRoom({ streams }: Services, caller: string, name?: string): void {
  const room = streams.room(caller, name)
  const retryAfterSeconds = ROOM_RETRY_SECONDS
  if (room === 'full')
    throw new ApiError('overloaded', 'Too many streams are open; try again later.', { retryAfterSeconds })
  if (room === 'caller')
    throw rateLimited('You have as many streams open as you may; end one.', {
      limit: streams.callerMax,
      retryAfterSeconds,
    })
}

type Wished = Subscription<Services> & Required<Pick<Subscription<Services>, 'first'>>

function wishOf(contexts: readonly AssetContext[], { channels: kinds, period }: Asked): Wished {
  const told = newestOnly.filter((channel) => kinds.includes(channel))
  return {
    kinds: new Set(kinds),
    assets: new Set(contexts.map(({ asset }) => asset)),
    first: contexts.flatMap(({ asset }) => told.map((channel) => changed(channel, asset))),
    heldMax: HELD_MAX,
    tell: tellers[period],
  }
}

const tellers = Object.fromEntries(
  Object.keys(periods).map((period) => [period, tellerOf(period as PeriodName)]), // its keys are the names
) as Readonly<Record<PeriodName, Tell<Services>>>

/** The data of an update: for each channel what its route answers. */
function tellerOf(period: PeriodName): Tell<Services> {
  const views: Readonly<Record<string, (context: AssetContext) => View>> = {
    cvd: (context) => cvdView(context, period),
    price: priceView,
    funding: fundingView,
  }
  return (services, { kind, key, value }) => {
    const view = views[kind]
    return view === undefined ? eventWords(services, value as Happened) : answerWords(services, key, view)
  }
}

/** Undefined where there is nothing to say just now. */
function answerWords(services: Services, asset: string, view: (context: AssetContext) => View): string | undefined {
  try {
    return wordsAboutNow(services, symbolOf(asset), view)
  } catch (error) {
    if (!(error instanceof ApiError)) services.log.error({ err: error, asset }, 'an event could not be made')
    return undefined
  }
}

function eventWords({ partitions }: Services, { message, partition, offset }: Happened): string | undefined {
  switch (message.type) {
    case 'liquidation': {
      const row = rowOf({ ...message.value, offset }, partition)
      return JSON.stringify({ ...eventOf(row, partitions), as_of: iso(message.value.received) })
    }
    case 'signal':
      return JSON.stringify(signalOf(message.value))
    default:
      return undefined
  }
}

function signalOf({ asset, kind, period, exchange, from, to, value, time }: Signal): object {
  return { symbol: symbolOf(asset), kind, period, exchange, from, to, value, as_of: iso(time) }
}

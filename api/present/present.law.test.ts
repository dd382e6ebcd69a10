import fc from 'fast-check'
import { expect, it } from 'vitest'
import { loadPresent, savePresent, type PresentState } from '../../processors/present/state.ts'
import { tradeVenues } from '../../schemas/venues.ts'
import { Present } from './present.ts'
import type { PresentSource } from './present-table.ts'
import { fakePresent } from '../testing/fake-present.ts'
import { flow, NOW, startHarness, type Harness } from '../testing/harness.ts'
import { routesOfNow } from '../testing/routes-of-now.ts'

const PARTITIONS = 12
const SECOND = 1_000_000
const BUCKET = 10 * SECOND

/** A machine under load tries fewer facts rather than none. */
const bounded = { interruptAfterTimeLimit: 20_000 }
const TEST_MS = 60_000

/** One more fact of BTC, made of one that there is: `at` seconds back, or of that venue; `by`: how much it differs. */
const change = fc.record({
  what: fc.constantFrom('ticker', 'price', 'liquidation', 'flow', 'settlement'),
  at: fc.nat(40),
  by: fc.integer({ min: 1, max: 400 }).map((n) => n / 7),
})

it(
  'answers to the byte alike wherever it was read: what is held says all, in any order',
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(change, { maxLength: 30 }), async (changes) => {
        const here = await startHarness()
        const elsewhere = await startHarness({ source: readElsewhere(here) })
        try {
          for (const [number, { what, at, by }] of changes.entries()) facts[what]?.(here, { number, at, by })
          for (const target of routesOfNow) {
            const [one, other] = await Promise.all([here, elsewhere].map(({ url }) => answerOf(url + target)))
            expect([target, other]).toEqual([target, one])
          }
        } finally {
          await Promise.all([here.stop(), elsewhere.stop()])
        }
      }),
      { ...bounded, numRuns: 40 },
    )
  },
  TEST_MS,
)

interface Change {
  readonly number: number
  readonly at: number
  readonly by: number
}

const facts: Readonly<Record<string, (api: Harness, change: Change) => void>> = {
  ticker({ database: { market } }, { at, by }) {
    const known = market.tickers[at % market.tickers.length]
    if (known === undefined) return
    const later = Math.round(by * 1000)
    market.tickers.push({
      ...known,
      price: known.price + by,
      time: known.time + later,
      received: known.received + later,
    })
  },
  price({ database: { market } }, { by }) {
    market.prices = market.prices.map((row) => ({ ...row, price: row.price + by, time: row.time + 1, v: row.v + 1 }))
  },
  liquidation({ database: { market } }, { number, at, by }) {
    const known = market.liquidations[at % market.liquidations.length]
    if (known === undefined) return
    const time = known.time - at * SECOND
    market.liquidations.push({
      ...known,
      id: `more ${number}`,
      size: by,
      value: by * known.price,
      time,
      received: time,
    })
  },
  flow({ database }, { at, by }) {
    const { venue } = tradeVenues[at % tradeVenues.length] ?? { venue: 'okx' }
    const bucket = NOW - (NOW % BUCKET) - at * BUCKET
    database.flows.push(flow({ venue, bucket, buy: by, sell: at / 3, price: 100 + by }))
  },
  settlement({ database: { market } }, { at, by }) {
    const known = market.settlements[at % market.settlements.length]
    if (known !== undefined)
      market.settlements.push({ ...known, settled_rate: by / 1e5, time: known.time - at * SECOND })
  },
}

/** What is held there, written into the log and read by another process in the order that compaction may leave. */
function readElsewhere({ database }: Harness): PresentSource {
  const source = fakePresent(database, PARTITIONS)
  return {
    asked: () => undefined,
    get now() {
      const present = source.now
      if (present === undefined) return undefined
      const read = present.states.map((state): PresentState => {
        const parts = [...savePresent(state)].flatMap(([key, part]) => (part === null ? [] : [[key, part] as const]))
        return loadPresent(new Map(parts.toReversed()))
      })
      return new Present(() => read, present.common)
    },
  }
}

/** Status and text; a request's own id is no part of an answer. */
async function answerOf(url: string): Promise<[status: number, text: string]> {
  const response = await fetch(url)
  return [response.status, await response.text()]
}

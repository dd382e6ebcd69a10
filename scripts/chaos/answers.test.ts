import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { ReplayedApi } from '../../api/testing/replayed-api.ts'
import { routesOfNow } from '../../api/testing/routes-of-now.ts'
import { price } from '../../processors/alerts/testing/records.ts'
import { MemoryBroker, stillClock } from '../../processors/kernel/testing/memory-log.ts'
import type { RunFile } from '../../infra/local/run-file.ts'
import { localCodec } from '../../schemas/codec.ts'
import { AnswerJudge, type AnswerReport } from './answers.ts'

const MOMENT = '2026-11-24T12:00:00.000Z'
const POSITION = 'alerts.inputs=1'
const codec = localCodec()
const servers: Server[] = []
let log: ReturnType<MemoryBroker['connect']>
beforeEach(() => {
  const broker = new MemoryBroker(stillClock)
  const { value: told } = price(0, 101, { time: Date.parse(MOMENT) * 1_000, v: 1 })
  const value = codec.encode('alerts.inputs', 'composite_price', told)
  broker.append('alerts.inputs', 0, [{ key: 'btc', value, time: Date.parse(MOMENT) }])
  log = broker.connect()
})
afterEach(() => {
  for (const server of servers.splice(0)) server.close().closeAllConnections()
})

async function listening(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  servers.push(server)
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** An API that answers `told` with success, by target, and nothing else. */
const telling = (told: ReadonlyMap<string, string>): Promise<string> =>
  listening(({ url = '' }, response) => {
    const text = told.get(url)
    response.writeHead(text === undefined ? 503 : 200, { 'log-position': POSITION }).end(text)
  })

/** One round over hosts of a cluster's API. */
async function judged(urls: readonly string[]): Promise<AnswerReport> {
  const parts = urls.map((url, index) => ({ name: `api-${index + 1}`, url }))
  const run: RunFile = { mode: 'demo', data: '', partitions: 1, parts }
  const judge = new AnswerJudge({ run: () => run, books: { log: logOf(), codec, partitions: 1 }, isWhole: () => true })
  return judge.stop()
}

function logOf() {
  return { reader: () => log.reader(), trim: () => Promise.reject(new Error('nothing is trimmed here')) }
}

/** What the log gives, as an API answers it. */
async function given(target: string): Promise<string> {
  const replay = await ReplayedApi.start({ reader: log.reader(), codec, partitions: 1 })
  const text = await replay.of({ target, text: `{"timestamp":"${MOMENT}"}`, position: POSITION })
  await replay.stop()
  return text ?? ''
}

it('holds each API by itself against the log, and names what the log gives otherwise', async () => {
  const right = await given('/price/BTC')
  const first = await telling(new Map([['/price/BTC', right]]))
  const other = await telling(new Map([['/price/BTC', right.replace('BTC', 'ETH')]]))
  const { faults, ...counts } = await judged([first, other])
  expect(counts).toEqual({ checked: 2, wrong: 1, unjudged: 0 })
  expect(faults).toEqual([expect.stringMatching(/^api-2 answered \/price\/BTC with /)])
})

it('counts no answer of an API that is killed in the middle of it, nor of one that is away, and asks the others', async () => {
  const right = await given('/price/BTC')
  let broken = 0
  const killed = await listening((_, response) => {
    broken += 1
    response.writeHead(200, { 'log-position': POSITION, 'content-length': right.length })
    response.write(right.slice(0, 9), () => response.destroy())
  })
  const away = await telling(new Map())
  servers.pop()?.close()
  const others = await telling(new Map([['/price/BTC', right]]))
  expect(await judged([killed, away, others])).toEqual({ checked: 1, wrong: 0, unjudged: 0, faults: [] })
  expect(broken).toBe(routesOfNow.length)
})

import { setTimeout as delay } from 'node:timers/promises'
import { FramesWriter } from '../processors/feeds/runtime/frames-writer.ts'
import { isJson } from '../processors/feeds/transport/connection.ts'
import { SocketPool } from '../processors/feeds/transport/pool.ts'
import type { TradeStream } from '../processors/feeds/venues/venue.ts'
import { tradeStreams } from '../processors/feeds/venues/venues.ts'
import { knownAsset } from '../schemas/catalogue.ts'
import { hostsOf, tradeVenues } from '../schemas/venues.ts'
import { runCommand, text, UsageError, type Values } from './command/command.ts'

const usage = `Writes a venue's raw trade frames as tapes: one line a frame, {"recv_ns":N,"raw":<the frame>}, gzip.

  npm run record -- --venue binance --symbols BTC,ETH --out tapes [--minutes 10] [--ws URL]

  --venue    ${tradeVenues.map(({ venue }) => venue).join(', ')}
  --symbols  tickers (BTC) or the venue's own symbols (BTCUSDT), comma-separated
  --out      folder; the tapes are <out>/<venue>/<hour>-<start>.jsonl.gz
  --minutes  how long; without it until Ctrl-C
  --ws       WebSocket base address in place of the venue's own
`

/** Tapes of one recording may take this much; the oldest hour goes first. */
const maxBytes = 1e12

interface Task {
  readonly venue: TradeStream
  readonly symbols: ReadonlySet<string>
  readonly out: string
  readonly ws: string
  readonly endsAfterMs: number | undefined
}

const flags = { venue: text, symbols: text, out: text, minutes: text, ws: text } as const

function readTask(values: Values<typeof flags>): Task {
  const name = tradeVenues.find(({ venue }) => venue === values.venue)?.venue
  const minutes = values.minutes === undefined ? undefined : Number(values.minutes)
  if (name === undefined) throw wrong(`--venue must be one of ${tradeVenues.map(({ venue }) => venue).join(', ')}`)
  if (values.symbols === undefined) throw wrong('--symbols is missing, for example --symbols BTC,ETH')
  if (values.out === undefined) throw wrong('--out is missing, for example --out tapes')
  if (minutes !== undefined && !(minutes > 0)) throw wrong('--minutes must be a number above 0')
  const venue = tradeStreams[name]
  return {
    venue,
    symbols: new Set(values.symbols.split(',').map((symbol) => nativeSymbol(venue, symbol.trim()))),
    out: values.out,
    ws: values.ws ?? hostsOf(name).ws ?? '',
    endsAfterMs: minutes === undefined ? undefined : minutes * 60_000,
  }
}

const wrong = (what: string): UsageError => new UsageError(`${what}\n\n${usage}`)

/** The venue's own symbol of a ticker that we know; anything else is taken as the venue's own already. */
function nativeSymbol({ listing }: TradeStream, symbol: string): string {
  const asset = knownAsset(symbol.toUpperCase())
  const listed = listing.seed.find(({ base, live }) => live && asset !== undefined && knownAsset(base) === asset)
  return listed?.symbol ?? symbol
}

async function record({ venue, symbols, out, ws, endsAfterMs }: Task): Promise<void> {
  let frames = 0
  const onDrop = (count: number, error?: unknown): void => console.error(`${count} frames were not kept`, error ?? '')
  const writer = new FramesWriter({ dir: out, maxBytes, onDrop })
  const pool = new SocketPool(venue, ws.replace(/\/+$/, ''), {
    frame: (text, events, received) => {
      frames++
      writer.write(venue.venue, text, received, isJson(events))
    },
    acknowledged: (acknowledged) => console.log(`${venue.venue} streams ${acknowledged.join(', ')}`),
    refused: (refused) => console.error(`${venue.venue} refuses ${refused.join(', ')}`),
    lost: (_symbols, end) => console.error(`connection ended: ${JSON.stringify(end)}`),
  })
  pool.want(symbols)
  await untilEnd(endsAfterMs)
  pool.close()
  await writer.close()
  console.log(`${frames} frames in ${out}/${venue.venue}`)
}

/** Resolves after `ms`, or when the process is asked to stop. */
async function untilEnd(ms: number | undefined): Promise<void> {
  const stop = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort())
  const longest = 2 ** 31 - 1
  await delay(Math.min(ms ?? longest, longest), undefined, { signal: stop.signal }).catch(() => undefined) // stopped by hand
}

await runCommand({ usage, flags }, (values) => record(readTask(values)))

import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { FramesWriter } from '../processors/feeds/runtime/frames-writer.ts'
import { SocketPool } from '../processors/feeds/transport/pool.ts'
import type { TradeStream } from '../processors/feeds/venues/venue.ts'
import { tradeStreams } from '../processors/feeds/venues/venues.ts'
import { knownAsset } from '../schemas/catalogue.ts'
import { hostsOf, tradeVenues } from '../schemas/venues.ts'

const help = `Writes a venue's raw trade frames as tapes: one line a frame, {"recv_ns":N,"raw":<the frame>}, gzip.

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

const task = readTask()
if (task !== undefined) await record(task)

/** The command line as a task; undefined where it says what to do instead. */
function readTask(): Task | undefined {
  const options = {
    venue: { type: 'string' },
    symbols: { type: 'string' },
    out: { type: 'string' },
    minutes: { type: 'string' },
    ws: { type: 'string' },
    help: { type: 'boolean' },
  } as const
  const values = argumentsOf(() => parseArgs({ options }).values)
  if (values === undefined) return undefined
  if (values.help === true) {
    console.log(help)
    return undefined
  }
  const name = tradeVenues.find(({ venue }) => venue === values.venue)?.venue
  const minutes = values.minutes === undefined ? undefined : Number(values.minutes)
  if (name === undefined) return complain(`--venue must be one of ${tradeVenues.map(({ venue }) => venue).join(', ')}`)
  if (values.symbols === undefined) return complain('--symbols is missing, for example --symbols BTC,ETH')
  if (values.out === undefined) return complain('--out is missing, for example --out tapes')
  if (minutes !== undefined && !(minutes > 0)) return complain('--minutes must be a number above 0')
  const venue = tradeStreams[name]
  return {
    venue,
    symbols: new Set(values.symbols.split(',').map((symbol) => nativeSymbol(venue, symbol.trim()))),
    out: values.out,
    ws: values.ws ?? hostsOf(name).ws ?? '',
    endsAfterMs: minutes === undefined ? undefined : minutes * 60_000,
  }
}

function argumentsOf<Values>(read: () => Values): Values | undefined {
  try {
    return read()
  } catch (error) {
    return complain(error instanceof Error ? error.message : String(error))
  }
}

function complain(what: string): undefined {
  console.error(`${what}\n\n${help}`)
  process.exitCode = 2
}

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
    frame: (text, received, json) => {
      frames++
      writer.write(venue.venue, text, received, json)
    },
    events: () => undefined,
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

import { createReadStream, existsSync } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { jsonOf } from '../processors/feeds/venues/fields.ts'
import type { Listed, TradeStream } from '../processors/feeds/venues/venue.ts'
import { tradeStreams } from '../processors/feeds/venues/venues.ts'
import { flag, readFlags, text, UsageError } from './command/command.ts'
import { readRecordedMessage, Normalizer, type Counts } from './normalize/normalizer.ts'

const help = `npm run normalize -- --venue V --channel C [options] [FILE] < frames.jsonl

Prints the normalised records of recorded messages, one JSON a line; needs no server. Refusals are counted by reason on
stderr. Input: a message a line, bare or as {"recv_ns"?, "url"?, "raw": <message>}, plain or gzip; a file or stdin.

  --venue V           ${Object.keys(tradeStreams).join(', ')}
  --channel C         ${Object.values(tradeStreams)
    .map(({ venue, channels }) => `${venue}: ${channels.join(', ')}`)
    .join('; ')};
                      all: rest-trades (pages of REST), instruments (answers that list markets)
  --symbol S          symbol of REST pages that do not say it
  --instruments FILE  the venue's answer that lists its markets, for contract sizes beyond the checked-in ones
  --verbose           each refusal on stderr, with its line
  --help
`

const flags = { venue: text, channel: text, symbol: text, instruments: text, verbose: flag, help: flag } as const

async function main(): Promise<void> {
  const { values, positionals } = readFlags(flags, { allowPositionals: true })
  if (values.help === true) {
    console.log(help)
    return
  }
  const venue = venueNamed(values.venue)
  const normalizer = new Normalizer({
    venue,
    channel: channelNamed(venue, values.channel),
    ...(values.symbol === undefined ? {} : { symbol: values.symbol }),
    ...(values.instruments === undefined ? {} : { listed: await listedIn(venue, values.instruments) }),
    onRefusal: (reason, line) => {
      if (values.verbose === true) console.error(`${reason}: ${line}`)
    },
  })
  await pipeline(printed(linesOf(inputOf(positionals)), normalizer), process.stdout)
  report(normalizer.counts)
}

function venueNamed(name: string | undefined): TradeStream {
  const venue = Object.values(tradeStreams).find((candidate) => candidate.venue === name)
  if (venue !== undefined) return venue
  throw new UsageError(`--venue: no venue ${name ?? '(none given)'}; there are ${Object.keys(tradeStreams).join(', ')}`)
}

function channelNamed(venue: TradeStream, name: string | undefined): string {
  const channels = [...venue.channels, 'rest-trades', 'instruments']
  if (name !== undefined && channels.includes(name)) return name
  throw new UsageError(`--channel: ${venue.venue} has no ${name ?? '(none given)'}; it has ${channels.join(', ')}`)
}

/** All rows of a file of the venue's instrument answers, pages one a line. */
async function listedIn(venue: TradeStream, file: string): Promise<Listed[]> {
  const rows: Listed[] = []
  for await (const line of linesOf(createReadStream(file))) {
    const answer = venue.listing.parse(jsonOf(readRecordedMessage(line).text))
    if (answer.kind !== 'rows') throw new UsageError(`--instruments: ${file} is not ${venue.venue}'s list of markets`)
    rows.push(...answer.rows)
  }
  return rows
}

function inputOf(files: readonly string[]): Readable {
  if (files.length > 1) throw new UsageError('one file at a time')
  const [file] = files
  if (file !== undefined && !existsSync(file)) throw new UsageError(`there is no file ${file}`)
  if (file !== undefined) return createReadStream(file)
  if (process.stdin.isTTY) throw new UsageError('no input: name a file or pipe messages to stdin')
  return process.stdin
}

/** Lines of a stream that is plain or gzip, which its first two bytes tell. Throws what the stream or gzip throws. */
async function* linesOf(input: Readable): AsyncGenerator<string> {
  let rest = ''
  for await (const text of await plain(input)) {
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) if (line !== '') yield line
  }
  if (rest !== '') yield rest
}

async function plain(input: Readable): Promise<AsyncIterable<string>> {
  const chunks: AsyncIterator<Buffer> = input[Symbol.asyncIterator]()
  const first = await chunks.next()
  const bytes = Readable.from(resumed(first, chunks))
  if (first.done === true || first.value[0] !== 0x1f || first.value[1] !== 0x8b) return bytes.setEncoding('utf8')
  const text = bytes.pipe(createGunzip()).setEncoding('utf8')
  bytes.on('error', (error) => text.destroy(error))
  return text
}

async function* resumed(first: IteratorResult<Buffer>, chunks: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  for (let chunk = first; chunk.done !== true; chunk = await chunks.next()) yield chunk.value
}

async function* printed(lines: AsyncIterable<string>, normalizer: Normalizer): AsyncGenerator<string> {
  for await (const line of lines) for (const record of normalizer.records(line)) yield `${JSON.stringify(record)}\n`
}

function report(counts: Counts): void {
  const parts = [...counts].map(([what, count]) => `${count} ${what}`)
  console.error(parts.length === 0 ? 'no input' : parts.join(', '))
}

try {
  await main()
} catch (error) {
  // The reader of our output has seen enough, as `head` does.
  if (!(error instanceof Error && 'code' in error && error.code === 'EPIPE')) {
    console.error(error instanceof UsageError ? error.message : `normalize: ${String(error)}`)
    process.exitCode = error instanceof UsageError ? 2 : 1
  }
}

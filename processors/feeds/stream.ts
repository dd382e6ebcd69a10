import { partitionOf } from '../../schemas/catalogue.ts'
import type { Instrument, Micros } from '../../schemas/records.ts'
import { IdTracker } from './id-tracker.ts'
import { normaliser, type Normalise } from './normalise.ts'
import { PageTracker } from './page-tracker.ts'

/** One instrument that is streamed, with what came of it. */
export type Stream = IdStream | PageStream

interface Common {
  instrument: Instrument
  readonly symbol: string
  readonly partition: number
  normalise: Normalise
  /** When the newest trade of the stream came, the host's milliseconds; 0 before the first. */
  lastTradeAt: number
  /** When a connection that carried it was lost, the host's milliseconds. */
  lostAt: number
}

export interface IdStream extends Common {
  readonly ids: 'contiguous'
  tracker: IdTracker
  /** When the venue last said itself how far the ids have come. */
  toldAt: number
  /** Highest id that the log had when this process began; what is missing right after it is the restart's. */
  resumedAt: number | undefined
  /** When the venue is next asked for trades that a silent stream may have lost, the host's milliseconds. */
  probeAt: number
  probes: number
}

export interface PageStream extends Common {
  readonly ids: 'none'
  tracker: PageTracker
}

export function newStream(ids: 'contiguous' | 'none', instrument: Instrument, partitions: number): Stream {
  const common = {
    instrument,
    symbol: instrument.symbol,
    partition: partitionOf(instrument.asset, partitions),
    normalise: normaliser(instrument),
    lastTradeAt: 0,
    lostAt: -Infinity,
  }
  return ids === 'contiguous'
    ? { ...common, ids, tracker: new IdTracker(), toldAt: 0, resumedAt: undefined, probeAt: 0, probes: 0 }
    : { ...common, ids, tracker: new PageTracker() }
}

/** The venue describes the market anew: from here on trades are scaled by the new factors. */
export function relist(stream: Stream, instrument: Instrument): void {
  if (instrument === stream.instrument) return
  stream.instrument = instrument
  stream.normalise = normaliser(instrument)
}

/** Takes one trade id of the stream; `duplicate` where it came before. */
export function observe(stream: Stream, id: number, time: Micros, now: number): 'new' | 'duplicate' {
  return stream.ids === 'contiguous' ? stream.tracker.observe(id, time, now) : stream.tracker.observe(id, time)
}

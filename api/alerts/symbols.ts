import { findAsset, type Catalogue, type Listed } from '../catalogue.ts'
import { ApiError } from '../errors.ts'
import type { Services } from '../services.ts'
import { within } from './deadline.ts'

/** A list of what the venues list is not worth a longer wait, milliseconds. */
const DEADLINE_MS = 1_000
const LATE = 'What the venues list cannot be read right now; try again in a few seconds.'

const last = new WeakMap<Services, Catalogue>()

/**
 * The asset that a symbol means; throws `symbol_not_found`. What venues list changes seldom: where ClickHouse does not
 * answer, the catalogue that was read last stands for it, and before the first one its error is thrown.
 */
export async function alertAsset(services: Services, symbol: string): Promise<Listed> {
  try {
    last.set(services, await within(DEADLINE_MS, services.catalogue(), () => new ApiError('data_unavailable', LATE)))
  } catch (error) {
    if (!last.has(services)) throw error
    services.log.debug({ err: error }, 'the catalogue that was read last is used')
  }
  const known = last.get(services)
  if (known === undefined) throw new Error('a catalogue was set above')
  return findAsset(symbol, known)
}

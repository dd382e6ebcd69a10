import type { CompositePrice, Mark } from '../../schemas/records.ts'
import { aliveSources, noteChannels } from './alive.ts'
import { lastHeard, tellGap } from './gaps.ts'
import { FORGOTTEN, SILENT, type AssetState, type PricesState } from './state.ts'
import { compositeAt, countedOf } from './tickers.ts'

/**
 * Moves partition time on to a later mark's. Gives what follows: prices of assets that have lost a venue (or have one
 * back without a ticker), and what candles tell of a gap.
 */
export function advanceTime(state: PricesState, mark: Mark, v: number): CompositePrice[] {
  state.time = mark.time
  hear(state, mark)
  const assets = [...state.assets.values()].sort((a, b) => (a.asset < b.asset ? -1 : 1))
  const prices: CompositePrice[] = []
  for (const asset of assets) {
    prices.push(...tellGap(state, asset, v))
    const changed = lookAt(state, asset, v)
    if (changed !== undefined) prices.push(changed)
  }
  return prices
}

/** What a mark says beside its time: which channels live, which markets have ended. */
export function hear(state: PricesState, mark: Mark): void {
  noteChannels(state, mark)
  for (const asset of state.assets.values()) leaveEnded(state, asset, mark)
}

function lookAt(state: PricesState, asset: AssetState, v: number): CompositePrice | undefined {
  const counted = countedOf(aliveSources(state, asset, state.time))
  if (counted === '') return goAway(state, asset)
  return counted === asset.counted ? undefined : compositeAt(state, asset, v)
}

/** Without a source there is no price and no record. */
function goAway(state: PricesState, asset: AssetState): undefined {
  if (asset.awaySince === null) {
    asset.awaySince = lastHeard(asset)
    asset.counted = ''
    asset.isChanged = true
  }
  if (state.time - asset.awaySince <= FORGOTTEN) return
  state.assets.delete(asset.asset)
  state.forgotten.add(asset.asset)
}

/** A market that its feed has ended or that was silent for long no longer counts, however alive its channel is. */
function leaveEnded(state: PricesState, asset: AssetState, { changes }: Mark): void {
  for (const { venue, instrument, received } of asset.sources.values()) {
    if (state.time - received <= SILENT && !isEnded(changes, instrument)) continue
    if (asset.awaySince === null && asset.sources.size === 1) asset.awaySince = received
    asset.sources.delete(venue)
    asset.isChanged = true
  }
}

function isEnded(changes: Mark['changes'], instrument: string): boolean {
  for (const change of changes) if (change.instrument === instrument && change.state === 'ended') return true
  return false
}

import { symbolOf } from '../../../schemas/catalogue.ts'
import type { Services } from '../../services.ts'

/** The assets that are streamed: those from the start first, then those that somebody asked for. */
export async function symbolsView(services: Services): Promise<object> {
  const { preSubscribed, mode, version } = services
  const { subscriptions } = await services.world()
  const asked = subscriptions.filter(({ state }) => state === 'acknowledged').map(({ asset }) => asset)
  const assets = [...preSubscribed, ...new Set(asked.filter((asset) => !preSubscribed.has(asset)))]
  return {
    mode,
    version,
    now: services.now(),
    symbols: assets.map((asset) => ({ asset, symbol: symbolOf(asset) })),
  }
}

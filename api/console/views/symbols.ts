import { symbolOf } from '../../../schemas/catalogue.ts'
import type { Services } from '../../services.ts'

/**
 * The assets that are streamed: those from the start first, then those that somebody asked for. Who asked stands in
 * ClickHouse: while that is away there are the first ones alone.
 */
export async function symbolsView(services: Services): Promise<object> {
  const { preSubscribed, mode, version } = services
  const others = (await askedFor(services)).filter((asset) => !preSubscribed.has(asset))
  return {
    mode,
    version,
    now: services.now(),
    symbols: [...preSubscribed, ...new Set(others)].map((asset) => ({ asset, symbol: symbolOf(asset) })),
  }
}

async function askedFor(services: Services): Promise<string[]> {
  try {
    const { subscriptions } = await services.world()
    return subscriptions.filter(({ state }) => state === 'acknowledged').map(({ asset }) => asset)
  } catch (error) {
    services.log.warn({ err: error }, 'who asked for which symbol cannot be read just now')
    return []
  }
}

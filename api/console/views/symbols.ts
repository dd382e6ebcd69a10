import { symbolOf } from '../../../schemas/catalogue.ts'
import type { Services } from '../../services.ts'

/** The assets that are streamed: those from the start first, then those that somebody asked for. */
export async function symbolsView(services: Services): Promise<object> {
  const { preSubscribed, mode, version } = services
  const { subscriptions } = services.present().world()
  const others = subscriptions.flatMap(({ state, asset }) => (state === 'acknowledged' ? [asset] : []))
  return {
    mode,
    version,
    now: services.now(),
    symbols: [...new Set([...preSubscribed, ...others])].map((asset) => ({ asset, symbol: symbolOf(asset) })),
  }
}

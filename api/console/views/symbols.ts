import { symbolOf } from '../../../schemas/catalogue.ts'
import { viewContext } from '../../routes/answers.ts'
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

/** Every symbol that a venue lists, in order: what a reader may look for. */
export async function catalogueView(services: Services): Promise<object> {
  const { named } = viewContext(services).catalogue
  return { symbols: [...new Set([...named, ...services.preSubscribed])].map(symbolOf).toSorted() }
}

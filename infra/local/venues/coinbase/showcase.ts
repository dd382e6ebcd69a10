import type { Economy, SpotMarket } from '../economy.ts'
import type { World } from '../world.ts'
import type { Shown } from './data-rows.ts'
import { products } from './listing.ts'

/** The products that are listed now, each with its prices and its trades. */
export class Showcase {
  readonly economy: Economy
  readonly world: World

  constructor(world: World, economy: Economy) {
    this.world = world
    this.economy = economy
  }

  get markets(): readonly SpotMarket[] {
    return this.economy.spots('coinbase')
  }

  find(product: string): Shown | undefined {
    const market = this.markets.find(({ symbol }) => symbol === product)
    return market === undefined ? undefined : this.shown(market)
  }

  /** Whether it can be subscribed; of some that are listed nothing is ever said. */
  isOnline(product: string): boolean {
    if (this.find(product) !== undefined) return true
    return products(this.markets).some(({ id, status, trading_disabled }) => {
      return id === product && status === 'online' && !trading_disabled
    })
  }

  all(): Shown[] {
    return this.markets.map((market) => this.shown(market))
  }

  private shown(market: SpotMarket): Shown {
    return { market, state: this.economy.spot(market), history: this.world.find('coinbase', market.symbol) }
  }
}

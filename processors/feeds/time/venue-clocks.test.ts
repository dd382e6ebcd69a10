import { describe, expect, it } from 'vitest'
import { VenueClocks } from './clock.ts'

/** The right time, milliseconds; the monotonic clock begins at 0 with it. */
const NOW = 1_760_000_000_000
const MINUTE = 60_000

/** What venues sent within five seconds from `from` on, each by its own clock, `late` ms on the way. */
function heard(
  venues: Readonly<Record<string, { readonly ahead?: number; readonly late?: number }>>,
  from = 0,
): VenueClocks {
  const clocks = new VenueClocks()
  for (let mono = from; mono < from + 5_000; mono += 250) {
    for (const [venue, { ahead = 0, late = 80 }] of Object.entries(venues))
      clocks.see(venue, (NOW + mono - late + ahead) * 1_000, mono)
  }
  return clocks
}

/** What the venues say at 5 s, of a host's clock that is `off` ms ahead: how far ahead it is. */
function aheadBy(clocks: VenueClocks, off: number, mono = 5_000): number | undefined {
  const wall = NOW + mono + off
  const agreed = clocks.agreed(mono, wall)
  return agreed === undefined ? undefined : wall - agreed.time
}

describe('what venues say of the host’s clock', () => {
  it.each([0, 4_000, -4_000, 55 * MINUTE, -55 * MINUTE])('tells that it is %d ms ahead', (off) => {
    expect(aheadBy(heard({ binance: {}, okx: {} }), off)).toBe(off + 80)
  })

  it.each([-55 * MINUTE, -10_000, 10_000, 55 * MINUTE])('is not moved by one venue that is %d ms off', (ahead) => {
    expect(Math.abs(aheadBy(heard({ binance: {}, okx: { ahead } }), 0) ?? NaN)).toBeLessThan(1_000)
    expect(Math.abs(aheadBy(heard({ binance: {}, kraken: {}, okx: { ahead } }), 0) ?? NaN)).toBeLessThan(1_000)
    expect(aheadBy(heard({ binance: {}, kraken: {}, okx: { ahead } }), 30 * MINUTE)).toBe(30 * MINUTE + 80)
  })

  it('is nothing where two venues contradict each other and the clock', () => {
    expect(aheadBy(heard({ binance: {}, okx: { ahead: -10 * MINUTE } }), 30 * MINUTE)).toBeUndefined()
  })

  it('is what the only one says', () => {
    expect(aheadBy(heard({ binance: {} }), 55 * MINUTE)).toBe(55 * MINUTE + 80)
  })

  it('is nothing before any has said anything', () => {
    expect(new VenueClocks().agreed(0, NOW)).toBeUndefined()
  })

  it('is not taken from a few old messages, as a quiet market sends them at first', () => {
    const clocks = new VenueClocks()
    clocks.see('coinbase', (NOW - 20 * MINUTE) * 1_000, 0)
    clocks.see('okx', (NOW - 20 * MINUTE) * 1_000, 0)
    expect(clocks.agreed(1_000, NOW + 1_000)).toBeUndefined()
    clocks.see('okx', (NOW + 1_400) * 1_000, 1_500)
    expect(aheadBy(clocks, 0, 2_000)).toBe(100)
  })

  it('is taken at once where a venue tells the time itself', () => {
    const clocks = new VenueClocks()
    clocks.told('binance', NOW, 400)
    expect(aheadBy(clocks, 55 * MINUTE, 1_000)).toBe(55 * MINUTE - 100)
  })

  it('stands through a burst of what waited while the process stood still', () => {
    const clocks = heard({ binance: {}, okx: {} })
    for (let n = 0; n < 100; n++) {
      clocks.see('binance', (NOW + 5_000 + n) * 1_000, 40_000)
      clocks.see('okx', (NOW + 5_000 + n) * 1_000, 40_000)
    }
    expect(aheadBy(clocks, 0, 40_100)).toBe(80)
  })

  it('stands while nothing comes, however long', () => {
    expect(aheadBy(heard({ binance: {}, okx: {} }), 0, 60 * MINUTE)).toBe(80)
    expect(aheadBy(heard({ binance: {}, okx: {} }), 55 * MINUTE, 60 * MINUTE)).toBe(55 * MINUTE + 80)
  })

  it('comes from those that speak, where others have fallen silent', () => {
    const clocks = heard({ binance: { ahead: 10 * MINUTE }, okx: { ahead: 10 * MINUTE } })
    for (let mono = 100_000; mono < 105_000; mono += 500) clocks.see('kraken', (NOW + mono - 80) * 1_000, mono)
    expect(aheadBy(clocks, 0, 105_000)).toBe(80)
  })
})

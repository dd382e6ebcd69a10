import { Registry } from 'prom-client'
import { describe, expect, it } from 'vitest'
import type { Logger } from '../../../infra/log.ts'
import { HostWatch, tapeWatch } from './process-clock.ts'
import { HostTime } from '../time/clock.ts'

const NOW = 1_760_000_000_000
const STEP = 55 * 60_000

describe('the watch of a feed’s clock', () => {
  it('keeps it from marking while venues say that it is wrong, and says so in log, metrics and health', async () => {
    let [mono, off] = [0, 0]
    const time = new HostTime({ wall: () => NOW + mono + off, mono: () => mono })
    const lines: string[] = []
    const line = (_: object, message: string): void => void lines.push(message)
    // rule: types - of a logger these two are called
    const log = { info: line, error: line } as unknown as Logger
    const metrics = new Registry()
    const watch = new HostWatch(time, log, metrics)
    const pass = (seconds: number): void => {
      for (let n = 0; n < seconds; n++) {
        mono += 1_000
        for (const venue of ['binance', 'okx']) time.venues.see(venue, (NOW + mono - 50) * 1_000, mono)
        watch.look()
      }
    }
    const figure = async (name: string): Promise<unknown> =>
      (await metrics.getMetricsAsJSON()).find((one) => one.name === name)?.values[0]?.value
    expect(watch.venueTime).toBeNull()
    pass(5)
    expect(watch.venueTime).toBe((NOW + mono - 50) * 1_000)
    expect(watch.health()).toEqual({ state: 'right', ahead_ms: 50, venues: ['binance', 'okx'] })

    off = STEP
    pass(5)
    expect(watch.venueTime).toBeUndefined()
    expect(watch.health()).toEqual({ state: 'wrong', ahead_ms: STEP + 50, venues: ['binance', 'okx'] })
    expect(await figure('mda_feed_clock_ahead_seconds')).toBe((STEP + 50) / 1_000)
    expect(await figure('mda_feed_clock_marks')).toBe(0)
    expect(await figure('mda_feed_clock_withheld_seconds_total')).toBe(5)

    off = 0
    pass(2)
    expect(watch.venueTime).toBe((NOW + mono - 50) * 1_000)
    expect(await figure('mda_feed_clock_marks')).toBe(1)
    expect(lines).toEqual([
      'the host’s clock is wrong, or every stream is late: no marks',
      'the host’s clock is right again, marks go on',
    ])
  })

  it('takes a tape’s clock for the venues’ own', () => {
    const watch = tapeWatch({ now: () => 7, see: () => undefined })
    watch.look()
    expect(watch.venueTime).toBe(7)
  })
})

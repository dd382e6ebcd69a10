import { describe, expect, it } from 'vitest'
import { type ClockVerdict, HostTime } from './clock.ts'

const NOW = 1_760_000_000_000
const SECOND = 1_000
const MINUTE = 60 * SECOND

/** A machine and two venues, moved by hand. */
class Machine {
  #mono = 0
  /** Sleep: what passed without the monotonic clock. */
  #slept = 0
  /** How far the host's clock is ahead. */
  off = 0
  /** How far the venues' clocks are ahead; null: they are silent. */
  readonly venues: Record<string, number | null> = { binance: 0, okx: 0 }
  readonly time = new HostTime({ wall: () => this.truth + this.off, mono: () => this.#mono })

  get truth(): number {
    return NOW + this.#mono + this.#slept
  }

  sleep(ms: number): this {
    this.#slept += ms
    return this
  }

  /** Lets seconds pass, each with a look at its end; gives the last. */
  pass(seconds: number): ClockVerdict {
    let verdict = this.time.look()
    for (let n = 0; n < seconds; n++) {
      this.#mono += SECOND
      for (const [venue, ahead] of Object.entries(this.venues))
        if (ahead !== null) this.time.venues.see(venue, (this.truth + ahead - 50) * 1_000, this.#mono)
      verdict = this.time.look()
    }
    return verdict
  }

  /** How far what is stamped now is ahead of the truth. */
  get stampedAhead(): number {
    return this.time.now() - this.truth
  }

  silence(): this {
    for (const venue of Object.keys(this.venues)) this.venues[venue] = null
    return this
  }

  speak(): this {
    for (const venue of Object.keys(this.venues)) this.venues[venue] = 0
    return this
  }
}

describe('the clock of a feed process', () => {
  it('has ticks for deadlines, which no correction moves', () => {
    for (const off of [2 * 60 * MINUTE, -2 * 60 * MINUTE]) {
      const machine = new Machine()
      machine.off = off
      machine.silence().pass(2)
      const [from, stamped] = [machine.time.ticks(), machine.time.now()]
      machine.speak().pass(10)
      expect(Math.abs(machine.time.now() - stamped)).toBeGreaterThan(60 * MINUTE)
      machine.off = 0
      machine.pass(10)
      expect(machine.time.ticks() - from).toBe(20 * SECOND)
    }
  })

  it('is the host’s, before venues speak and when they confirm it', () => {
    const machine = new Machine()
    machine.off = 300
    expect(machine.time.now()).toBe(machine.truth + 300)
    expect(machine.pass(0).state).toBe('unchecked')
    expect(machine.pass(3)).toMatchObject({ state: 'right', aheadMs: 350, venues: ['binance', 'okx'] })
    expect(machine.stampedAhead).toBe(300)
  })

  it.each([55 * MINUTE, -55 * MINUTE, 6 * SECOND, -6 * SECOND])('does not follow a step of %d ms', (step) => {
    const machine = new Machine()
    machine.pass(5)
    machine.off = step
    expect(machine.pass(0).state).toBe('stepped')
    expect(machine.stampedAhead).toBe(0)
    expect(machine.pass(10)).toMatchObject({ state: 'wrong', aheadMs: step + 50 })
    expect(machine.stampedAhead).toBe(0)
    machine.off = 0
    expect(machine.pass(1).state).toBe('right')
    expect(machine.stampedAhead).toBe(0)
  })

  it.each([55 * MINUTE, -55 * MINUTE])('that is %d ms off from the start is told within seconds', (off) => {
    const machine = new Machine()
    machine.off = off
    expect(machine.pass(5)).toMatchObject({ state: 'wrong', aheadMs: off + 50 })
    expect(machine.stampedAhead).toBe(-50)
  })

  it('follows a small step, as time servers make them, and drifts with the host up to 5 s', () => {
    const machine = new Machine()
    machine.pass(5)
    for (const off of [400, -400, 2_000, 4_900]) {
      machine.off = off
      expect(machine.pass(1).state).toBe('right')
      expect(machine.stampedAhead).toBe(off)
    }
    machine.off = 5_500
    expect(machine.pass(1).state).toBe('wrong')
  })

  it('waits for venues after a step that nothing confirms', () => {
    const machine = new Machine()
    machine.pass(5)
    machine.silence().off = 20 * MINUTE
    expect(machine.pass(100).state).toBe('stepped')
    expect(machine.stampedAhead).toBe(0)
    machine.speak()
    expect(machine.pass(5).state).toBe('wrong')
  })

  it('follows the host over the sleep of a machine as soon as venues confirm it', () => {
    const machine = new Machine()
    machine.pass(5)
    machine.sleep(60 * MINUTE)
    expect(machine.pass(0).state).toBe('stepped')
    expect(machine.pass(1).state).toBe('right')
    expect(machine.stampedAhead).toBe(0)
  })

  it('tells the time by the venues while they are all silent', () => {
    const machine = new Machine()
    machine.pass(5)
    machine.silence()
    expect(machine.pass(3_600)).toMatchObject({ state: 'right', venueTime: machine.truth - 50 })
  })

  it('is not silenced by one venue that lies', () => {
    const machine = new Machine()
    for (const lie of [55 * MINUTE, -55 * MINUTE]) {
      machine.venues['okx'] = lie
      expect(machine.pass(10).state).toBe('right')
    }
    expect(machine.stampedAhead).toBe(0)
  })
})

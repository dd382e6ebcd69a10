import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { planOf, type Load, type Measured, type MeasuredPoint } from './plan.ts'

const point = (trades: number, more: Partial<Load> = {}): MeasuredPoint => {
  const load: Load = { trades, markets: 100, alerts: 0, requests: 0, ...more }
  return {
    load,
    cores: { processors: 0.1 + trades * 5e-4, api: 0.1 + load.requests * 1e-4 + load.markets * 1e-3, simulator: 5 },
    residentBytes: { processors: 1e9 + load.alerts * 1_000, simulator: 7e9 },
    logBytesPerSecond: trades * 100,
    tableBytesPerSecond: trades * 7,
  }
}
const measured: Measured = {
  points: [
    point(0),
    point(500),
    point(1_000),
    point(1_000, { requests: 300 }),
    point(1_000, { alerts: 20_000 }),
    point(1_000, { markets: 400 }),
    point(2_000),
    point(6_000),
  ],
  heldOut: point(1_500, { requests: 100, alerts: 5_000 }),
}
const load: Load = { trades: 20_000, markets: 100, alerts: 1_000_000, requests: 1_000 }
const prices = {
  coresPerMachine: 4,
  bytesPerMachine: 16e9,
  usdPerMachineMonth: 100,
  usdPerGigabyteMonth: 0.1,
  used: 0.5,
  days: 1,
}

describe('a plan', () => {
  it('follows the slopes beyond what was measured, and says how far', () => {
    const plan = planOf(load, measured, prices)
    expect(plan.parts.map(({ part }) => part)).toEqual(['processors', 'api'])
    expect(plan.cores.value).toBeCloseTo(10.1 + 0.3)
    expect(plan.parts.reduce((sum, { value }) => sum + value, 0)).toBeCloseTo(plan.cores.value)
    expect(plan.machines.value).toBe(6)
    expect(plan.partitions).toBe(44)
    expect(plan.memoryBytes.value).toBeCloseTo(2e9, -3)
    expect(plan.diskBytes.value / (86_400 * 20_000 * (100 * 3 + 7 * 2))).toBeCloseTo(1)
    expect(plan.usdPerMonth.value).toBeCloseTo(600 + (plan.diskBytes.value / 1e9) * 0.1)
    expect(plan.beyond).toEqual({ trades: 20_000 / 6_000, markets: 0.25, alerts: 50, requests: 1_000 / 300 })
  })

  it('says what a trade, a market, an alert and a request take', () => {
    const { slopes } = planOf(load, measured, prices)
    const expected = { base: 0.2, batches: 0, trades: 5e-4, markets: 1e-3, alerts: 0, requests: 1e-4 }
    for (const [of, slope] of Object.entries(expected)) expect(slopes[of as keyof typeof slopes]).toBeCloseTo(slope, 6)
  })

  it('says of the run that was held out what it says of any, and knows nothing of it', () => {
    const { heldOut } = planOf(load, measured, prices)
    expect(heldOut.said.value).toBeCloseTo(heldOut.measured)
    const twice = { ...measured.heldOut, cores: { processors: 9 } }
    const other = planOf(load, { ...measured, heldOut: twice }, prices)
    expect(other.heldOut).toMatchObject({ said: heldOut.said, measured: 9 })
  })

  it('never takes fewer than three machines', () => {
    expect(planOf({ ...load, trades: 1, alerts: 0, requests: 1 }, measured, prices).machines.least).toBe(3)
  })
})

describe('the points that were measured', () => {
  const text = readFileSync(new URL('points.json', import.meta.url), 'utf8')
  const { points, heldOut } = JSON.parse(text) as Measured

  it('make a plan whose range holds the run that was held out', () => {
    expect(points.length).toBeGreaterThanOrEqual(8)
    const { said, measured: taken } = planOf(heldOut.load, { points, heldOut }, prices).heldOut
    expect(taken).toBeGreaterThanOrEqual(said.least)
    expect(taken).toBeLessThanOrEqual(said.most)
    expect(said.most).toBeLessThan(2 * said.value)
  })
})

it.each(['cores', 'gigabytes'])('the command refuses machines of no %s', (what) => {
  const program = fileURLToPath(new URL('../plan.ts', import.meta.url))
  const { status, stderr } = spawnSync(process.execPath, [program, `--${what}`, '0'], { encoding: 'utf8' })
  expect({ status, stderr }).toEqual({ status: 2, stderr: `--${what} must be above 0\n` })
})

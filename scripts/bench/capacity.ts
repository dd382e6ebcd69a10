import { writeFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { connectClickhouse } from '../../infra/clickhouse/client.ts'
import { urlOf } from '../../infra/local/run-file.ts'
import { clickhouseOf } from '../../infra/local/secrets.ts'
import { fillersOf } from '../../infra/simulator/market/catalogue.ts'
import type { Bench, Figure } from '../figure.ts'
import { startOwnSystem, withoutPast } from '../own-system.ts'
import type { Measured, MeasuredPoint } from '../plan/plan.ts'
import { ask, createAlerts, streamedSymbols, warmRoutes } from './capacity/customers.ts'
import { BehindError, measurePoint } from './capacity/point.ts'
import { steps, type Step } from './capacity/steps.ts'

const WARM_MS = Number(process.env['BENCH_WARM_SECONDS'] ?? 15) * 1000
const MEASURE_SECONDS = Number(process.env['BENCH_SECONDS'] ?? 20)
/** The past is read once, behind all else: its cost is none of a load. Whoever asks is one address. */
const SETTINGS = { ...withoutPast, RATE_LIMIT_PER_SECOND: '0' }

/**
 * What each process of a whole system takes of a core by trades, markets, alerts and requests, and what the log and the
 * tables grow by: the points that `npm run plan` fits its slopes to, written beside it. By CPU time, so that who else runs
 * here counts little. Rates go up until one is not kept up with, which is told and is no point. BENCH_SECONDS and
 * BENCH_WARM_SECONDS set how long each is measured and waited for.
 */
const bench: Bench = async () => {
  const points: MeasuredPoint[] = []
  let heldOut: MeasuredPoint | undefined
  for (const [index, step] of steps.entries()) {
    say(`system ${index + 1} of ${steps.length}: ${step.trades} trades/s, ${step.quiet} quiet symbols`)
    try {
      const measured = await pointsOf(step)
      if (step.isHeldOut === true) [heldOut] = measured
      else points.push(...measured)
    } catch (error) {
      if (!(error instanceof BehindError) || step.isHeldOut === true) throw error
      say(`  refused: ${error.message}`)
    }
  }
  if (heldOut === undefined) throw new Error('no run was held out')
  const written: Measured = { points, heldOut }
  writeFileSync(fileURLToPath(new URL('../plan/points.json', import.meta.url)), `${JSON.stringify(written, null, 2)}\n`)
  return [...points, heldOut].flatMap(figuresOf)
}

export default bench

async function pointsOf(step: Step): Promise<MeasuredPoint[]> {
  const fillers = fillersOf(step.quiet).map(({ asset }) => asset)
  const symbols = { SIMULATOR_FILLERS: String(step.quiet), SYMBOLS: [...streamedSymbols, ...fillers].join(',') }
  const system = await startOwnSystem(['--seed', '7', '--rate', String(step.trades)], { ...SETTINGS, ...symbols })
  const run = system.run()
  const api = urlOf(run, 'api')
  const clickhouse = connectClickhouse({ ...clickhouseOf(run, process.env), database: 'market' })
  const points: MeasuredPoint[] = []
  let created = 0
  try {
    await delay(WARM_MS)
    for (const phase of step.phases) {
      await createAlerts(api, phase.alerts - created)
      created = phase.alerts
      if (phase.requests > 0) await warmRoutes(api)
      const during = (): Promise<void> => ask(api, phase.requests, MEASURE_SECONDS)
      const point = await measurePoint({ run, clickhouse, seconds: MEASURE_SECONDS }, phase, during)
      say(`  ${lineOf(point)}`)
      points.push(point)
    }
    return points
  } finally {
    await clickhouse.close()
    await system.dispose()
  }
}

function lineOf({ load, cores }: MeasuredPoint): string {
  const parts = Object.entries(cores).map(([part, value]) => `${part} ${value.toFixed(2)}`)
  const { trades, markets, alerts, requests } = load
  return `${trades} trades/s, ${markets} markets, ${alerts} alerts, ${requests} requests/s: ${parts.join(', ')}`
}

function figuresOf({ load, cores }: MeasuredPoint): Figure[] {
  const at = `${load.trades}/s ${load.markets} markets ${load.alerts} alerts ${load.requests} requests`
  return Object.entries(cores).map(([part, value]) => ({ metric: `${part}, ${at}`, value, unit: 'cores', n: 1 }))
}

function say(text: string): void {
  console.error(text)
}

import { coveredShare } from '../../../processors/cvd/covered-time.ts'
import { periods, type PeriodName } from '../../../processors/cvd/periods.ts'
import { partitionOf, symbolOf } from '../../../schemas/catalogue.ts'
import type { Micros } from '../../../schemas/records.ts'
import { ApiError } from '../../request/errors.ts'
import { assetContext, type AssetContext } from '../../routes/answers.ts'
import { periodTrades, venuesOf, type PeriodTrades } from '../../routes/cvd.ts'
import type { Services } from '../../services.ts'
import { coveredOf, unsubscribedOf } from '../../views/covered.ts'
import { aggregate } from '../../views/cvd.ts'
import { firstWithPast } from '../../views/held-past.ts'
import { ageOf, isHole } from '../../views/venues.ts'
import { streamedAssets } from './tables.ts'

/** A symbol's volume delta, as `/cvd` says it. */
interface ToldCvd {
  /** As of when it is, and until when it is not stale; milliseconds of the host's clock, also on a tape. */
  readonly time: number
  readonly fresh_until: number
  /** By period: taker buys minus taker sells, and how much of the time is covered, 0 to 1. */
  readonly periods: Readonly<Record<string, { readonly usd: number; readonly share: number }>>
}

const LONGEST = '7d' satisfies PeriodName
const others = (Object.keys(periods) as PeriodName[]).filter((period) => period !== LONGEST) // its keys are the names

/** By asset, of those that are streamed and lie in a partition; all of one moment. */
export function cvdTold(services: Services, partition: number): Readonly<Record<string, ToldCvd>> {
  const assets = streamedAssets(services).filter((asset) => partitionOf(asset, services.partitions) === partition)
  const told = assets.map((asset) => [asset, toldOf(services, asset)] as const)
  return Object.fromEntries(told.flatMap(([asset, cvd]) => (cvd === undefined ? [] : [[asset, cvd]])))
}

/** Undefined: there is nothing to say. */
function toldOf(services: Services, asset: string): ToldCvd | undefined {
  try {
    const context = assetContext(services, symbolOf(asset))
    const longest = periodTrades(context, LONGEST)
    const shorter = others.map((period) => [period, periodTrades(context, period, longest.gaps)] as const)
    const { asOf, freshUntil } = ageOf(venuesOf(context, longest))
    const hostTime = (time: Micros): number => services.now() + Math.floor((time - context.clock) / 1000)
    const figures = [...shorter, [LONGEST, longest] as const].map(
      ([period, trades]) => [period, figureOf(context, trades)] as const,
    )
    return { time: hostTime(asOf), fresh_until: hostTime(freshUntil), periods: Object.fromEntries(figures) }
  } catch (error) {
    if (!(error instanceof ApiError)) services.log.error({ err: error, asset }, 'a volume delta could not be told')
    return undefined
  }
}

function figureOf(
  { present, asset, counted }: AssetContext,
  { now, window, sums, gaps }: PeriodTrades,
): { usd: number; share: number } {
  const missing = { holes: gaps.filter(isHole), unsubscribed: unsubscribedOf(present, asset) }
  const covered = coveredOf(
    sums.map((row) => firstWithPast(row)),
    missing,
  )
  const share = coveredShare(covered, { from: window.from, to: Math.min(window.to, now) })
  return { usd: aggregate(sums, { covered: share, counted }).total.period_cvd_usd, share }
}

import { setTimeout as delay } from 'node:timers/promises'
import type * as client from '../../clients/typescript/src/api.ts'

/** Each route's answer, by a short name. */
export interface RouteAnswers {
  readonly cvd: client.CvdAnswer
  readonly price: client.PriceAnswer
  readonly funding: client.FundingRateAnswer
  readonly compare: client.FundingCompareAnswer
  readonly basis: client.BasisAnswer
  readonly predicted: client.PredictedFundingAnswer
  readonly history: client.FundingHistoryAnswer
  readonly longShort: client.LongShortAnswer
  readonly prices: client.PricesAnswer
  readonly market: client.MarketAnswer
  readonly heatmap: client.LiquidationHeatmapAnswer
  readonly liquidations: client.LiquidationRecentAnswer
  readonly extreme: client.FundingExtremeAnswer
}

/** Callers are limited to 20 a second where payments are off; and no more than some at a time. */
const APART_MS = 60
const AT_ONCE = 6
const ANSWER_MS = 30_000

/** Asks the API, no faster than it lets a caller. */
export class Answers {
  private readonly url: string
  private readonly slots: Promise<unknown>[] = Array.from({ length: AT_ONCE }, () => Promise.resolve())
  private next = 0

  constructor(url: string) {
    this.url = url
  }

  /** The answer, or why there is none. */
  ask<Answer>(path: string): Promise<Answer | string> {
    const slot = this.next % AT_ONCE
    this.next += 1
    const answer = (this.slots[slot] ?? Promise.resolve()).then(() => this.fetched<Answer>(path))
    this.slots[slot] = answer
    return answer
  }

  private async fetched<Answer>(path: string): Promise<Answer | string> {
    await delay(AT_ONCE * APART_MS)
    try {
      const answer = await fetch(this.url + path, { signal: AbortSignal.timeout(ANSWER_MS) })
      // The route says which answer it is.
      if (answer.status === 200) return (await answer.json()) as Answer
      return `${answer.status} ${(await answer.text()).slice(0, 120)}`
    } catch (error) {
      return error instanceof Error ? error.message : String(error)
    }
  }
}

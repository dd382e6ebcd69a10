/** What the market page says of a symbol that is of now only for a while. Pure. */
import * as format from './format.ts'

/** What was said longer ago is no figure of now, milliseconds; as the API has it. */
export const STALE_MS = 120_000
/** A price is heard every second. */
const PRICE_OLD_MS = 15_000

export interface Price {
  readonly price: number
  readonly change_24h: number | null
  readonly quality: string
  readonly sources: number
  readonly time: number
}

export interface Funding {
  readonly exchanges: readonly {
    readonly exchange: string
    readonly rate: number | null
    readonly interval_hours: number
    /** When the rate was said; null: never. */
    readonly time: number | null
  }[]
}

export interface Risk {
  readonly open_interest_usd: number
  readonly cascade_risk: string
  readonly cascade_risk_reason: string
  readonly time: number
}

/** Volume delta by period: taker buys minus taker sells, and how much of the time is covered, 0 to 1. */
export interface Cvd {
  readonly time: number
  /** Until when it is of now. */
  readonly fresh_until: number
  readonly periods: Readonly<Record<Period, { readonly usd: number; readonly share: number }>>
}

const HOUR_MS = 3_600_000
const periodMs = { '1h': HOUR_MS, '4h': 4 * HOUR_MS, '24h': 24 * HOUR_MS, '7d': 168 * HOUR_MS } as const
export type Period = keyof typeof periodMs
export const periods: readonly Period[] = ['1h', '4h', '24h', '7d']

interface Told {
  readonly cvd?: Cvd
  readonly price?: Price
  readonly funding?: Funding
  readonly risk?: Risk
}

/** The first venue's rate that is of now. */
export function runningOf(funding: Funding | undefined, now: number): Funding['exchanges'][number] | undefined {
  return funding?.exchanges.find(({ rate, time }) => rate !== null && time !== null && now - time <= STALE_MS)
}

interface CellText {
  readonly text: string
  readonly classes: string
  readonly title: string
}

/** By cell: what is old has its age as its title. */
export function agedOf(
  { cvd, price, funding, risk }: Told,
  now: number,
): Readonly<Record<`cvd-${Period}` | 'funding' | 'interest' | 'risk' | 'age', CellText>> {
  const running = runningOf(funding, now)
  const where = running === undefined ? '' : `${running.exchange}, every ${running.interval_hours} h`
  const old = price === undefined ? undefined : now - price.time
  const isOld = risk !== undefined && now - risk.time > STALE_MS
  const ago = isOld ? `${format.age(now - risk.time)} old` : undefined
  const { cascade_risk: level = 'none', cascade_risk_reason: why = '' } = risk ?? {}
  return {
    'cvd-1h': cvdCell(cvd, '1h', now),
    'cvd-4h': cvdCell(cvd, '4h', now),
    'cvd-24h': cvdCell(cvd, '24h', now),
    'cvd-7d': cvdCell(cvd, '7d', now),
    funding: { text: format.percent(running?.rate, 4), classes: 'num', title: where },
    interest: {
      text: format.compact(risk?.open_interest_usd),
      classes: isOld ? 'num weak' : 'num',
      title: ago ?? '',
    },
    risk: {
      text: risk?.cascade_risk ?? format.DASH,
      classes: `num ${isOld ? 'weak' : `risk-${level}`}`,
      title: ago ?? why,
    },
    age: { text: format.age(old), classes: old !== undefined && old > PRICE_OLD_MS ? 'num weak' : 'num', title: '' },
  }
}

function cvdCell(cvd: Cvd | undefined, period: Period, now: number): CellText {
  if (cvd === undefined) return { text: format.DASH, classes: 'num', title: '' }
  const { usd, share } = cvd.periods[period]
  const part = format.coveredPart(share, periodMs[period])
  const isOld = now > cvd.fresh_until
  return {
    text: part === undefined ? format.signed(usd) : `${format.signed(usd)} in ${part}`,
    classes: `num ${isOld || part !== undefined ? 'weak' : format.side(usd)}`,
    title: isOld ? `${format.age(now - cvd.time)} old` : '',
  }
}

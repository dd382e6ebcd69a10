import type { AlertTerms } from '../../../processors/alerts/kinds/kinds.ts'
import type { SeriesSpec } from '../../../processors/alerts/series.ts'
import type { Micros } from '../../../schemas/records.ts'
import type { ErrorCode } from '../../request/errors.ts'
import type { Body } from '../../request/body.ts'
import type { Schema } from '../../request/schema.ts'
import type { Database } from '../../views/database.ts'
import type { Page, PageRange } from '../../views/what-if.ts'

/** What the interface says of a kind of alert: its routes, its fields, its errors, its history. */
export interface ApiKind<T extends AlertTerms = AlertTerms> {
  readonly kind: T['kind']
  /** `a price alert`. */
  readonly named: string
  /** Path of one alert, and of the list. */
  readonly paths: { readonly alert: string; readonly alerts: string }
  readonly priceUsdc: { readonly create: number; readonly extend: number }
  /** USDC for each day, begun, that a creation asks for beyond 168 hours. */
  readonly perDayUsdc?: number
  /** Stands behind `alert_` in its ids. */
  readonly idPrefix: string
  /** Its lifetime may have no end, and may be as long as it can be extended to at once. */
  readonly mayLastForever?: boolean
  /** One can be for a list of symbols, or for all. */
  readonly mayBeForSeveral?: boolean
  /** Its terms can be changed. */
  readonly isEditable?: boolean

  /** What `condition` may be: it tells kinds apart where a body names none. */
  readonly conditions: readonly string[]
  /** Fields of a creation's body. */
  readonly body: Readonly<Record<string, Schema>>
  readonly optional: readonly string[]
  readonly example: Body
  readonly errors: readonly ErrorCode[]
  /** Reads them; throws the `ApiError` of the first field at fault. */
  read(body: Body): T

  /** What its body refers to, by name. */
  readonly components?: Readonly<Record<string, Schema>>
  /** Fields of answers, and what they hold. */
  readonly answer: Readonly<Record<string, Schema>>
  show(terms: T): object

  /** The body of its webhook: when it is sent, and what its `data` holds beside what every kind's does. */
  readonly webhook: {
    readonly summary: string
    readonly severities: readonly string[]
    readonly data: Readonly<Record<string, Schema>>
  }

  /** The figures that decide about it, each of which can be drawn. */
  figures(terms: T): readonly SeriesSpec[]
  /** Whether it can ring where these figures are told alone; left out: where all are. */
  canRing?(terms: T, isTold: (figure: SeriesSpec) => boolean): boolean
  /** Without a record for longer it was blind. */
  readonly blindAfter: Micros
  /** Time of the first record of the past that decides about it; undefined: there is none in the range. */
  begins(database: Database, range: Omit<PageRange, 'limit'>, terms: T): Promise<Micros | undefined>
  /** The records of the past that decide about it, in their order. */
  history(database: Database, range: PageRange, terms: T): AsyncIterable<Page>
  /** Candles of an hour say nothing of it. */
  needsMinutes?(terms: T): boolean
}

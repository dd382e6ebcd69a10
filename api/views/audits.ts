import type { Micros } from '../../schemas/records.ts'
import { Row, type Database } from './database.ts'
import { microsSql } from './time.ts'

/** How far our one-minute figures of the last day are from a venue's own candles, at the worst. Fractions. */
export interface AuditRow {
  readonly venue: string
  readonly compared: number
  readonly different: number
  /** Different, and no recorded gap explains it. */
  readonly unexplained: number
  readonly worstVolumeDifference: number | null
  /** Null: the venue publishes no taker volume. */
  readonly worstDeltaDifference: number | null
  readonly worstInstrument: string | null
  readonly worstMinute: Micros | null
}

const auditSql = `SELECT venue, compared, different, unexplained, worst_volume_difference, worst_delta_difference,
  worst_instrument, ${microsSql('worst_minute')} AS minute_us FROM audit_worst`

export async function readAudits(database: Database): Promise<AuditRow[]> {
  const rows = await database.query(auditSql, {})
  return rows.map((raw) => {
    const row = new Row(raw)
    return {
      venue: row.text('venue'),
      compared: row.number('compared'),
      different: row.number('different'),
      unexplained: row.number('unexplained'),
      worstVolumeDifference: row.nullableNumber('worst_volume_difference'),
      worstDeltaDifference: row.nullableNumber('worst_delta_difference'),
      worstInstrument: row.nullableText('worst_instrument'),
      worstMinute: row.nullableNumber('minute_us'),
    }
  })
}

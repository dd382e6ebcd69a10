import type { Micros } from '../../schemas/records.ts'

/** ISO 8601 with milliseconds, as every answer writes times. */
export function iso(micros: Micros): string {
  return new Date(Math.floor(micros / 1000)).toISOString()
}

/** SQL of a time column as whole microseconds. */
export function microsSql(column: string): string {
  return `toUnixTimestamp64Micro(${column})`
}

/** SQL of a time parameter that is given in microseconds. */
export function timeParam(name: string): string {
  return `fromUnixTimestamp64Micro({${name}:Int64}, 'UTC')`
}

export function isoOrNull(micros: Micros | null): string | null {
  return micros === null ? null : iso(micros)
}

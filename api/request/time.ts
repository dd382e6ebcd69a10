const ISO = /^(\d{4}-\d{2}-\d{2})(?:T(\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)(Z|[+-]\d{2}:\d{2})?)?$/

/**
 * Milliseconds of an ISO 8601 instant (a date is its midnight, no zone is UTC) or of Unix milliseconds as digits;
 * undefined where it is neither.
 */
export function parseTime(text: string): number | undefined {
  if (/^\d{1,15}$/.test(text)) return Number(text)
  const match = ISO.exec(text)
  if (match === null) return undefined
  const [, date, time = '00:00', zone = 'Z'] = match
  const value = Date.parse(`${date}T${time}${zone}`)
  // A day that the month does not have would roll over into the next one.
  const midnight = Date.parse(`${date}T00:00:00Z`)
  const exists = !Number.isNaN(midnight) && new Date(midnight).toISOString().startsWith(String(date))
  return exists && !Number.isNaN(value) ? value : undefined
}

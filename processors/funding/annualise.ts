const HOURS_A_DAY = 24
const DAYS_A_YEAR = 365

/** A rate per interval as a fraction a year, without compounding; `intervalHours` is the instrument's own. */
export function annualised(rate: number, intervalHours: number): number {
  return rate * (HOURS_A_DAY / intervalHours) * DAYS_A_YEAR
}

import type { AlertState } from '../../schemas/alerts.ts'
import type { Micros } from '../../schemas/records.ts'

/** An alert with what only its evaluation needs. */
export interface Held extends AlertState {
  /** Since when prices count for what it waits for now: its creation, its trigger, its arming, its return. */
  readonly since: Micros
}

/** A level that rang and whose price has been back: it becomes active when its minute is over. */
export function isCooling({ status, armed, condition }: AlertState): boolean {
  return status === 'triggered' && armed && !isCrossing(condition)
}

export function isCrossing(condition: string): boolean {
  return condition === 'crosses_above' || condition === 'crosses_below'
}

/** Whether it waits for a price above its target, rather than below. */
export function isRising(condition: string): boolean {
  return condition === 'above' || condition === 'crosses_above'
}

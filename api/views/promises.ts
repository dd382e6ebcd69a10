import { Row, type Database } from './database.ts'

/** What is promised over 30 days, as fractions that keep it; what each counts says the view `promise_minutes`. */
const objectives = {
  answered: 0.999,
  prompt: 0.99,
  there: 0.999,
  delivered: 0.99,
  complete: 0.99,
} as const

export type PromiseName = keyof typeof objectives

/** Windows over which it is looked how fast the allowance is used up, seconds. */
const burnWindows = { '5m': 300, '30m': 1_800, '1h': 3_600, '6h': 21_600, '3d': 259_200 } as const

export type BurnWindow = keyof typeof burnWindows

/** A promise as it is kept; a null figure: nothing of it happened in that time. */
export interface PromiseState {
  readonly promise: PromiseName
  readonly objective: number
  /** Over 30 days. */
  readonly kept: number
  readonly total: number
  /** Fraction of the allowance that is left; below 0 the promise is broken. */
  readonly left: number | null
  /** How many times faster than it may the allowance is used up; 1: it lasts just 30 days. */
  readonly burn: Readonly<Record<BurnWindow, number | null>>
}

const windows = Object.entries(burnWindows) as [BurnWindow, number][]

const sql = `SELECT promise, sum(kept) AS kept_all, sum(total) AS total_all, ${windows
  .flatMap(([name, seconds]) =>
    ['kept', 'total'].map((what) => `sumIf(${what}, minute > now() - INTERVAL ${seconds} SECOND) AS ${what}_${name}`),
  )
  .join(', ')} FROM promise_minutes GROUP BY promise`

/** How each promise is kept; of everything that happened, nothing is left out. */
export async function readPromises(database: Database): Promise<PromiseState[]> {
  const rows = (await database.query(sql, {})).map((raw) => new Row(raw))
  return (Object.keys(objectives) as PromiseName[]).map((promise) => {
    const row = rows.find((candidate) => candidate.text('promise') === promise)
    const count = (name: string): number => row?.number(name) ?? 0
    return stateOf(promise, (window) => ({ kept: count(`kept_${window}`), total: count(`total_${window}`) }))
  })
}

interface Count {
  readonly kept: number
  readonly total: number
}

/** A promise by its counts in a window, or in all 30 days. */
export function stateOf(promise: PromiseName, countIn: (window: BurnWindow | 'all') => Count): PromiseState {
  const objective = objectives[promise]
  const burnOf = ({ kept, total }: Count): number | null =>
    total === 0 ? null : (total - kept) / total / (1 - objective)
  const all = countIn('all')
  const used = burnOf(all)
  const burn = Object.fromEntries(windows.map(([name]) => [name, burnOf(countIn(name))]))
  return {
    promise,
    objective,
    ...all,
    left: used === null ? null : 1 - used,
    burn: burn as Record<BurnWindow, number | null>,
  }
}

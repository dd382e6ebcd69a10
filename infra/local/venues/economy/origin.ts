import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Micros } from '../trade.ts'

/** When a data folder's market was first opened, and the prices then: where its made-up past ends. */
export interface Origin {
  readonly seed: number
  readonly time: Micros
  readonly prices: Readonly<Record<string, number>>
}

/** The folder's own origin; `fresh` becomes it where there is none. A past keeps the seed it was made with. */
export function originOf(folder: string, fresh: Origin): Origin {
  const file = join(folder, 'origin.json')
  // Written by this function alone.
  if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8')) as Origin
  writeFileSync(file, JSON.stringify(fresh))
  return fresh
}

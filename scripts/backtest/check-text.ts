import type { Difference } from '../../processors/backtest/live-check.ts'
import type { CheckReport } from './check.ts'

export function isEqual({ differences }: CheckReport): boolean {
  return differences.length === 0
}

/** A line a topic, then every difference with both sides. */
export function checkText({ differences, tallies, absent }: CheckReport): string {
  const heads = ['topic', 'compared', 'written twice', 'overtaken', 'rests on older log', 'different'] as const
  const rows = [...tallies].map(([topic, { compared, repeated, overtaken, older, different }]) => {
    return [topic, compared, repeated, overtaken, older, different].map(String)
  })
  const table = [[...heads], ...rows]
  const widths = heads.map((_, column) => Math.max(...table.map((row) => row[column]?.length ?? 0)))
  const lines = table.map((row) =>
    row.map((cell, at) => (at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0))).join('  '),
  )
  const missing = absent.length > 0 ? [`not on this tape, so not compared: ${absent.join(', ')}`] : []
  const verdict = differences.length === 0 ? 'replay equals live: differences 0' : `differences ${differences.length}`
  return [...lines, ...missing, ...differences.map(differenceText), verdict].join('\n')
}

function differenceText({ topic, record, identity, kind, replay, live }: Difference): string {
  const said = { 'missing-live': 'only the replay has', 'only-live': 'only the live system has', different: 'differs:' }
  const sides = [replay, live].map((message) => JSON.stringify(message?.value ?? null))
  return `${topic} ${record} ${identity}: ${said[kind]}\n  replay ${sides[0]}\n  live   ${sides[1]}`
}

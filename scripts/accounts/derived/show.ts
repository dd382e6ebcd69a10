import type { DerivedReport } from '../derived.ts'
import type { DerivedRow } from './row.ts'

/** One line for each kind of number, with the value that is nearest to its tolerance; and every wrong one. */
export function derivedText({ rows, rounds }: DerivedReport): string {
  const head = ['what', 'values', 'of', 'ours', 'ledger', 'tolerance', 'verdict']
  const cells = [
    head,
    ...[...Map.groupBy(rows, ({ what }) => what)].flatMap(([what, group]) => groupCells(what, group)),
  ]
  const widths = head.map((_title, column) => Math.max(...cells.map((line) => line[column]?.length ?? 0)))
  const aligned = (cell: string, column: number): string =>
    column === 1 ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0)
  const table = cells.map((line) => line.map(aligned).join('  ').trimEnd())
  const wrong = rows.filter(({ verdict }) => verdict === 'WRONG').length
  const verdict = `${wrong === 0 ? 'OK' : 'WRONG'}: ${rows.length - wrong} values as the ledger has them, ${wrong} not; asked ${rounds} times.`
  return [...table, '', verdict].join('\n')
}

const WIDTH_MAX = 60

function groupCells(what: string, group: readonly DerivedRow[]): string[][] {
  const wrong = group.filter(({ verdict }) => verdict === 'WRONG')
  const farthest = group.reduce((most, row) => (row.share > most.share ? row : most))
  return (wrong.length > 0 ? wrong : [farthest]).map((row, index) => [
    index === 0 ? what : '',
    index === 0 ? String(group.length) : '',
    row.subject,
    cut(row.ours),
    cut(row.ledger),
    row.tolerance,
    row.verdict,
  ])
}

function cut(text: string): string {
  return text.length <= WIDTH_MAX ? text : `${text.slice(0, WIDTH_MAX)} and so on`
}

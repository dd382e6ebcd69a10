import { setTimeout as delay } from 'node:timers/promises'
import { urlOf, type RunFile } from '../../infra/local/run-file.ts'
import { Answers, type RouteAnswers } from './derived/answers.ts'
import {
  basisRows,
  extremeRows,
  compareRows,
  fundingRows,
  historyRows,
  perpVenues,
  predictedRows,
  longShortRows,
} from './derived/perpetuals.ts'
import { cvdPeriods, cvdRows } from './derived/flow.ts'
import { heatmapRows, EVENTS_MAX, liquidationRows } from './derived/liquidations.ts'
import { readLedger, type LedgerState } from './derived/ledger.ts'
import { batchRows, marketRows, priceRows } from './derived/prices.ts'
import { same, type DerivedRow } from './derived/row.ts'
import { Ledger } from './source-ledger.ts'

/** Some of those that are streamed from the start: every route has them. */
const streamed = ['BTC', 'ETH', 'DOGE', 'ARB']
/** Only priced and in the funding routes; with contracts of 1000 and of 10,000,000 tokens, and one that was renamed. */
const others = ['PEPE', 'SHIB', 'MATIC']
const tokens = ['bitcoin', 'dogecoin']
const THRESHOLDS = [0, 0.01, 0.05]
const SETTLED = 10
const LOOK_EVERY_MS = 3_000
const WIDTH_MAX = 60

export interface DerivedReport {
  readonly rows: readonly DerivedRow[]
  /** Rounds of questions until all was right, or time was over. */
  readonly rounds: number
}

/**
 * Holds every number that the API derives against the simulator's own ledger, of a market that is paused first: prices
 * and open interest stand then, premiums and rates go on and are compared as of the answer's own moment. Asks again
 * until all is right (what is on its way arrives, and what is cached is let go) or `withinMs` is over. The market stays
 * paused.
 */
export async function checkDerived(run: RunFile, withinMs: number): Promise<DerivedReport> {
  const questions = allQuestions()
  const deadline = performance.now() + withinMs
  const simulator = urlOf(run, 'simulator')
  await new Ledger(simulator).pause()
  const answers = new Answers(urlOf(run, 'api'))
  const found = new Map<Question, readonly DerivedRow[]>()
  for (let rounds = 1; ; rounds += 1) {
    // What was right stays right: the market stands.
    const open = questions.filter((each) => !isRight(found.get(each)))
    const answered = await Promise.all(open.map(async (each) => [each, await each.ask(answers)] as const))
    // Read behind the answers, so that it knows their minutes.
    const ledger = await readLedger(simulator, [...streamed, ...others])
    for (const [each, rows] of answered) found.set(each, rows(ledger))
    const rows = questions.flatMap((each) => found.get(each) ?? [])
    if (areRight(rows) || performance.now() > deadline) return { rows, rounds }
    await delay(LOOK_EVERY_MS)
  }
}

export function areRight(rows: readonly DerivedRow[]): boolean {
  return rows.every(({ verdict }) => verdict === 'OK')
}

function isRight(rows: readonly DerivedRow[] | undefined): boolean {
  return rows !== undefined && areRight(rows)
}

interface Question {
  /** Asks the API; what comes back holds the answer against a ledger. */
  readonly ask: (answers: Answers) => Promise<(ledger: LedgerState) => readonly DerivedRow[]>
}

function question<Route extends keyof RouteAnswers>(
  route: Route,
  path: string,
  rows: (answer: RouteAnswers[Route], ledger: LedgerState) => readonly DerivedRow[],
): Question {
  return {
    ask: async (answers) => {
      const answer = await answers.ask<RouteAnswers[Route]>(path)
      if (typeof answer === 'string') return () => [same(`answer of ${route}`, path, answer, '200')]
      return (ledger) => rows(answer, ledger)
    },
  }
}

function allQuestions(): Question[] {
  return [
    ...[...streamed, ...others].flatMap(everyAsset),
    ...streamed.flatMap(streamedAsset),
    batchQuestion([...streamed, ...others]),
    ...tokens.map((id) =>
      question('market', `/api/v1/market/${id}`, (answer, ledger) => marketRows(answer, id, ledger)),
    ),
    ...THRESHOLDS.map((threshold) =>
      question('extreme', `/funding-rate/extreme?threshold=${threshold}`, (answer, ledger) =>
        extremeRows(answer, threshold, ledger),
      ),
    ),
    question('liquidations', `/liquidation/recent?limit=${EVENTS_MAX}`, liquidationRows),
  ]
}

function everyAsset(asset: string): Question[] {
  return [
    question('price', `/price/${asset}`, (answer, ledger) => priceRows(answer, asset, ledger)),
    question('funding', `/funding-rate/${asset}USDT`, (answer, ledger) => fundingRows(answer, asset, ledger)),
    question('compare', `/futures/funding-compare/${asset}`, (answer, ledger) => compareRows(answer, asset, ledger)),
    question('basis', `/futures/basis/${asset}`, (answer, ledger) => basisRows(answer, asset, ledger)),
    question('predicted', `/futures/predicted-funding/${asset}`, (answer, ledger) =>
      predictedRows(answer, asset, ledger),
    ),
  ]
}

function streamedAsset(asset: string): Question[] {
  return [
    question('longShort', `/futures/long-short/${asset}`, (answer, ledger) => longShortRows(answer, asset, ledger)),
    question('heatmap', `/liquidation/heatmap/${asset}`, (answer, ledger) => heatmapRows(answer, asset, ledger)),
    ...cvdPeriods.map((period) =>
      question('cvd', `/cvd/${asset}?period=${period}`, (answer) => cvdRows(answer, asset, period)),
    ),
    ...perpVenues.map((venue) =>
      question('history', `/funding-rate/history/${asset}?exchange=${venue}&limit=${SETTLED}`, (answer, ledger) =>
        historyRows(answer, asset, venue, ledger),
      ),
    ),
  ]
}

function batchQuestion(symbols: readonly string[]): Question {
  const path = `/api/v1/prices?symbols=${symbols.join(',').toLowerCase()}`
  return question('prices', path, (answer, ledger) => symbols.flatMap((asset) => batchRows(answer, asset, ledger)))
}

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

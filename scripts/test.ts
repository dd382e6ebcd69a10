import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { checks, runStep, runSteps } from './steps.ts'

/** Of `vitest.config.ts`, in the order of their runs: the parts that one of them starts do not run beside the others. */
const projects = ['unit', 'real', 'system', 'alone']

/** What vitest counts, as in its JSON report. */
interface Counts {
  readonly numPassedTests: number
  readonly numFailedTests: number
  readonly numPendingTests: number
  readonly numTodoTests: number
  readonly numFailedTestSuites: number
}

/** The runner ended before it could report: that is one failure. */
const none: Counts = {
  numPassedTests: 0,
  numFailedTests: 0,
  numPendingTests: 0,
  numTodoTests: 0,
  numFailedTestSuites: 0,
}

interface Outcome {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
}

/**
 * `npm test`: types, lint, unused code, format, then unit tests and those against the real parts, which it starts by itself.
 * `npm test -- FILE...`: those tests alone.
 */
async function main(): Promise<void> {
  const asked = process.argv.slice(2)
  const outcomes: Outcome[] = []
  if (asked.length === 0) {
    const failed = await runSteps(checks)
    outcomes.push({ passed: checks.length - failed, failed, skipped: 0 })
    for (const project of projects) outcomes.push(await runTests(`${project} tests`, ['--project', project]))
  } else outcomes.push(await runTests('tests', asked))
  conclude(outcomes)
}

async function runTests(title: string, asked: readonly string[]): Promise<Outcome> {
  const folder = mkdtempSync(path.join(tmpdir(), 'test-'))
  try {
    const report = path.join(folder, 'report.json')
    const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`]
    const isOk = await runStep({ title, program: 'vitest', args: ['run', ...reporters, ...asked] })
    return outcomeOf(existsSync(report) ? (JSON.parse(readFileSync(report, 'utf8')) as Counts) : none, isOk)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function outcomeOf(counts: Counts, isOk: boolean): Outcome {
  const seen = counts.numFailedTests
  // Not ok without a failed test: a file did not load, or the parts did not start.
  const failed = isOk || seen > 0 ? seen : Math.max(1, counts.numFailedTestSuites)
  return { passed: counts.numPassedTests, failed, skipped: counts.numPendingTests + counts.numTodoTests }
}

/** The last line: a check is counted as one test, a file that could not be run as one failure. */
function conclude(outcomes: readonly Outcome[]): void {
  const sum = (what: keyof Outcome): number => outcomes.reduce((total, outcome) => total + outcome[what], 0)
  const [passed, failed, skipped] = [sum('passed'), sum('failed'), sum('skipped')]
  console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`)
  process.exitCode = failed === 0 ? 0 : 1
}

await main()

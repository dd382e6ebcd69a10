import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import type { JsonTestResult, JsonTestResults } from 'vitest/node'
import { checks, runStep, runSteps } from './steps.ts'

/** Of `vitest.config.ts`, in the order of their runs: the parts that one of them starts do not run beside the others. */
const projects = ['unit', 'real', 'system', 'alone']

interface Outcome {
  readonly passed: number
  readonly skipped: number
  /** A line for each failure. */
  readonly failures: readonly string[]
}

/**
 * `npm test`: types, lint, unused code, format, then unit tests and those against the real parts, which it starts by itself.
 * `npm test -- FILE...`: those tests alone.
 */
async function main(): Promise<void> {
  const asked = process.argv.slice(2)
  const outcomes: Outcome[] = []
  if (asked.length === 0) {
    const failures = await runSteps(checks)
    outcomes.push({ passed: checks.length - failures.length, skipped: 0, failures })
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
    const results = existsSync(report) ? (JSON.parse(readFileSync(report, 'utf8')) as JsonTestResults) : undefined
    return outcomeOf(title, results, isOk)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function outcomeOf(title: string, results: JsonTestResults | undefined, isOk: boolean): Outcome {
  const failures = (results?.testResults ?? []).filter(({ status }) => status === 'failed').flatMap(failuresOf)
  // The runner ended before it could report, or met an error that is no test's.
  if (!isOk && failures.length === 0) failures.push(`${title}: see above`)
  const { numPassedTests = 0, numPendingTests = 0, numTodoTests = 0 } = results ?? {}
  return { passed: numPassedTests, skipped: numPendingTests + numTodoTests, failures }
}

/** Without a failed test: the file did not load, or what it begins or ends with failed. */
function failuresOf({ name, message, assertionResults }: JsonTestResult): string[] {
  const file = path.relative(process.cwd(), name)
  const failed = assertionResults.filter(({ status }) => status === 'failed')
  if (failed.length === 0) return [lineOf(file, message === '' ? 'before or after its tests, see above' : message)]
  return failed.map(({ fullName, failureMessages }) => lineOf(`${file}:${fullName}`, failureMessages?.[0] ?? ''))
}

function lineOf(name: string, message: string): string {
  return `${name}: ${stripVTControlCharacters(message).split('\n', 1)[0]}`
}

/** The last lines: each failure, and how many there were. A check is counted as one test, a file that could not be run as one failure. */
function conclude(outcomes: readonly Outcome[]): void {
  const failures = outcomes.flatMap((outcome) => outcome.failures)
  const sum = (what: 'passed' | 'skipped'): number => outcomes.reduce((total, outcome) => total + outcome[what], 0)
  const [passed, skipped] = [sum('passed'), sum('skipped')]
  for (const failure of failures) console.log(`FAILED ${failure}`)
  console.log(`${passed} passed, ${failures.length} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`)
  process.exitCode = failures.length === 0 ? 0 : 1
}

await main()

import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { checks, runStep, runSteps } from './steps.ts'

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

/**
 * `npm test`: types, lint, unused code, format, then unit tests and those against the real parts, which it starts by itself.
 * `npm test -- FILE...`: those tests alone.
 */
async function main(): Promise<void> {
  const asked = process.argv.slice(2)
  const steps = asked.length === 0 ? checks : []
  const failedChecks = await runSteps(steps)
  const folder = mkdtempSync(path.join(tmpdir(), 'test-'))
  try {
    const report = path.join(folder, 'report.json')
    const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`]
    const args = ['run', ...reporters, ...asked]
    const ok = await runStep({ title: 'tests', program: 'vitest', args })
    conclude(
      existsSync(report) ? (JSON.parse(readFileSync(report, 'utf8')) as Counts) : none,
      steps.length,
      failedChecks,
      ok,
    )
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The last line: a check is counted as one test, a file that could not be run as one failure. */
function conclude(counts: Counts, checked: number, failedChecks: number, ok: boolean): void {
  const passed = counts.numPassedTests + checked - failedChecks
  const seen = counts.numFailedTests + failedChecks
  // Not ok without a failed test: a file did not load, or the parts did not start.
  const failed = ok || counts.numFailedTests > 0 ? seen : seen + Math.max(1, counts.numFailedTestSuites)
  const skipped = counts.numPendingTests + counts.numTodoTests
  console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`)
  process.exitCode = failed === 0 ? 0 : 1
}

await main()

import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))

/** One program of a check: what it is called and what is run. */
export interface Step {
  readonly title: string
  readonly program: string
  readonly args: readonly string[]
}

/** Types, lint, what nobody uses, and format: what needs no test to run. */
export const checks: readonly Step[] = [
  { title: 'format', program: 'prettier', args: ['--check', '--cache', '--log-level', 'warn', '.'] },
  { title: 'types', program: 'tsc', args: ['--noEmit'] },
  { title: 'types in the browser', program: 'tsc', args: ['--noEmit', '-p', 'api/console/web'] },
  { title: 'lint', program: 'oxlint', args: ['--deny-warnings'] },
  { title: 'unused code', program: 'knip', args: [] },
  { title: 'code that only tests use', program: 'knip', args: ['--production'] },
]

/** Runs `step`, its output shown as it comes; true when it ended with 0. */
export async function runStep(step: Step): Promise<boolean> {
  const began = performance.now()
  console.log(`${step.title} ...`)
  return isPassed(step, await exitOf(start(step, 'inherit')), began)
}

/** Runs all of them side by side, the output of each shown when it ends; the titles of those that failed. */
export async function runSteps(steps: readonly Step[]): Promise<string[]> {
  const passed = await Promise.all(steps.map(runQuietly))
  return steps.filter((_step, index) => passed[index] !== true).map(({ title }) => title)
}

async function runQuietly(step: Step): Promise<boolean> {
  const began = performance.now()
  const child = start(step, 'pipe')
  const chunks: Buffer[] = []
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk: Buffer) => void chunks.push(chunk))
  const code = await exitOf(child)
  process.stdout.write(Buffer.concat(chunks))
  return isPassed(step, code, began)
}

function start({ program, args }: Step, output: 'inherit' | 'pipe'): ChildProcess {
  return spawn(path.join(root, 'node_modules/.bin', program), args, { cwd: root, stdio: ['ignore', output, output] })
}

/** Once all of its output is there, too. */
async function exitOf(child: ChildProcess): Promise<number | null> {
  const [code] = (await once(child, 'close')) as [number | null]
  return code
}

function isPassed({ title }: Step, code: number | null, began: number): boolean {
  const seconds = ((performance.now() - began) / 1000).toFixed(1)
  console.log(`${title} ${code === 0 ? 'passed' : 'FAILED'} (${seconds} s)`)
  return code === 0
}

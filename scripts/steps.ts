import { spawn } from 'node:child_process'
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
  { title: 'types', program: 'tsc', args: ['--noEmit'] },
  { title: 'types in the browser', program: 'tsc', args: ['--noEmit', '-p', 'api/console/web'] },
  { title: 'lint', program: 'oxlint', args: ['--deny-warnings'] },
  { title: 'unused code', program: 'knip', args: [] },
  { title: 'format', program: 'prettier', args: ['--check', '--log-level', 'warn', '.'] },
]

/** Runs `step` with its output shown; true when it ended with 0. */
export async function runStep({ title, program, args }: Step): Promise<boolean> {
  const began = performance.now()
  console.log(`${title} ...`)
  const child = spawn(path.join(root, 'node_modules/.bin', program), args, {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  const [code] = (await once(child, 'exit')) as [number | null]
  const seconds = ((performance.now() - began) / 1000).toFixed(1)
  console.log(`${title} ${code === 0 ? 'passed' : 'FAILED'} (${seconds} s)`)
  return code === 0
}

/** Runs all of them, also behind one that failed; the number that failed. */
export async function runSteps(steps: readonly Step[]): Promise<number> {
  let failed = 0
  for (const step of steps) if (!(await runStep(step))) failed += 1
  return failed
}

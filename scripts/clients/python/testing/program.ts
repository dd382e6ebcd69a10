import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const program = fileURLToPath(new URL('../test_program.py', import.meta.url))
/** Tests skip what it has not the packages for. */
export const python = process.env['PYTHON'] ?? 'python3'

/** Whether the interpreter runs `code`. */
export function can(code: string): boolean {
  try {
    execFileSync(python, ['-c', code], { stdio: 'ignore', timeout: 110_000 })
    return true
  } catch {
    return false
  }
}

interface ProgramAnswer {
  readonly answer?: Readonly<Record<string, unknown>>
  readonly error?: string
  readonly code?: string
  readonly status?: number | null
  readonly spent: number
}

/** The client in a process of its own, which is told call after call. */
export class Program {
  readonly #child: ChildProcess
  readonly #lines: AsyncIterator<string>
  readonly #isAsync: boolean

  /** `isAsync`: its calls are those of the client for asyncio. */
  constructor(env: Readonly<Record<string, string>> = {}, isAsync = false) {
    this.#isAsync = isAsync
    this.#child = spawn(python, ['-B', program], {
      env: { PATH: process.env['PATH'] ?? '', ...env },
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    if (this.#child.stdout === null) throw new Error('no output')
    this.#lines = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]()
  }

  async call(base: string, call: string, input: object = {}, more: object = {}): Promise<ProgramAnswer> {
    this.#child.stdin?.write(`${JSON.stringify({ base, call, input, is_async: this.#isAsync, ...more })}\n`)
    const { value, done } = await this.#lines.next()
    if (done === true) throw new Error('the program has ended')
    return JSON.parse(value) as ProgramAnswer
  }

  stop(): void {
    this.#child.kill()
  }
}

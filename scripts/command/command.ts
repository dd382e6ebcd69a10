import { parseArgs, type ParseArgsOptionsConfig } from 'node:util'
import { parseTime } from '../../api/request/time.ts'
import { messageOf } from '../../infra/log.ts'
import { killedFolder, readRunFile, type RunFile } from '../../infra/local/run-file.ts'

/** A step that a stop has to wait for, a segment or a batch, ends within this time or is given up. */
const STOP_MS = 15_000

/** Exit code of a command that was stopped before its end. */
const STOPPED = 130

/** A command line that cannot be followed, or a wish that cannot be granted as things are; the message says what to do. */
export class UsageError extends Error {
  readonly code = 'bad-usage'
}

export const text = { type: 'string' } as const
export const flag = { type: 'boolean' } as const

/** What was given for the flags of a command. */
export type Values<Flags extends ParseArgsOptionsConfig> = Read<Flags>['values']

type Read<Flags extends ParseArgsOptionsConfig> = ReturnType<
  typeof parseArgs<{ options: Flags; allowPositionals: true }>
>

interface Reading {
  /** Default: of this process. */
  readonly args?: readonly string[]
  readonly allowPositionals?: boolean
  readonly hint?: string
}

/** The flags and the words of a command line. Throws `UsageError`, which ends with `hint`. */
export function readFlags<const Flags extends ParseArgsOptionsConfig>(
  flags: Flags,
  { args = process.argv.slice(2), allowPositionals = false, hint = '; --help tells all of it' }: Reading = {},
): Read<Flags> {
  try {
    return parseArgs({ args: [...args], options: flags, allowPositionals, strict: true })
  } catch (error) {
    throw new UsageError(`${error instanceof Error ? error.message : String(error)}${hint}`)
  }
}

/** Why a command that was told to stop did not get to its end. */
export class StopError extends Error {
  constructor() {
    super('stopped before the end')
  }
}

type ErrorClass = abstract new (...args: never) => Error

export interface Command<Flags extends ParseArgsOptionsConfig> {
  /** Printed by `--help`. */
  readonly usage: string
  readonly flags: Flags
  readonly allowPositionals?: boolean
  /** As of `conclude`. */
  readonly expected?: readonly ErrorClass[]
}

/** Reads the command line and runs the command; exit code as `conclude` has it. */
export function runCommand<const Flags extends ParseArgsOptionsConfig>(
  { usage, flags, allowPositionals = false, expected }: Command<Flags>,
  main: (values: Values<Flags>, words: readonly string[]) => Promise<boolean | void>,
): Promise<void> {
  return conclude(async () => {
    const { values, positionals } = readFlags({ ...flags, help: flag }, { allowPositionals })
    if ((values as { readonly help?: boolean }).help !== true) return main(values, positionals)
    console.log(usage)
  }, expected)
}

/**
 * Exit code 0: done; 1: `main` gave false; 2: it failed, which is said on standard error: the message; where it is known
 * what is `expected` to fail beside a `UsageError`, the whole of any other error; 130: it was stopped by a `StopError`.
 */
export async function conclude(
  main: () => Promise<boolean | void>,
  expected: readonly ErrorClass[] = [Error],
): Promise<void> {
  try {
    if ((await main()) === false) process.exitCode = 1
  } catch (error) {
    console.error(errorText(error, [StopError, ...expected]))
    if (error instanceof StopError) process.exit(STOPPED) // what it has given up may go on for minutes
    process.exitCode = 2
  }
}

/** Of a `UsageError`, what is `expected` and what the machine refuses the message, of what is our fault the whole error. */
export function errorText(error: unknown, expected: readonly ErrorClass[]): unknown {
  if (isOfMachine(error)) return messageOf(error)
  return [UsageError, ...expected].some((kind) => error instanceof kind) ? (error as Error).message : error
}

/** No room, no right to write, nobody who answers: by the codes of the operating system, as `ENOSPC`. */
function isOfMachine(error: unknown): error is Error {
  if (!(error instanceof Error)) return false
  return ('code' in error && /^E[A-Z0-9]+$/.test(String(error.code))) || isOfMachine(error.cause)
}

/** What runs on a data folder. Throws `UsageError`, which ends with what else can be done. */
export function running(data: string, otherwise: string): RunFile {
  const run = runOf(data)
  if (run === undefined) throw new UsageError(`nothing runs on ${data}: start it first, ${otherwise}`)
  return run
}

const modeFlags = { demo: '', live: '--live ', tape: '--tape PATH ' } as const

/**
 * The same, or undefined where nothing runs. Throws `UsageError` where its start was killed: our services end with it, and
 * the next start ends what is left of the others.
 */
export function runOf(data: string): RunFile | undefined {
  const run = readRunFile(data)
  const killed = killedFolder(data)
  if (run === undefined || killed === undefined) return run
  throw new UsageError(
    `the start on ${killed} was killed: start it again, with npm start -- ${modeFlags[run.mode]}--data ${killed}`,
  )
}

/** A decimal number from `min` on. Throws `UsageError`. */
export function readNumber(name: string, value: string, min = 0): number {
  return read(name, value, min, { kind: 'a number', form: /^\d+(?:\.\d+)?$/ })
}

/** The same without decimals. */
export function readWhole(name: string, value: string, min = 0): number {
  return read(name, value, min, { kind: 'a whole number', form: /^\d+$/ })
}

function read(name: string, value: string, min: number, { kind, form }: { kind: string; form: RegExp }): number {
  const number = form.test(value) ? Number(value) : NaN
  if (Number.isFinite(number) && number >= min) return number
  throw new UsageError(`${name} must be ${kind} of ${min} or more, got ${value}`)
}

/** A time as ISO 8601 or unix milliseconds, in milliseconds: what the API takes. Throws `UsageError`. */
export function readTime(name: string, value: string): number {
  const time = parseTime(value)
  if (time !== undefined) return time
  throw new UsageError(
    `${name} must be ISO 8601 (2026-03-01T00:00:00Z, without a zone UTC) or unix milliseconds, got ${value}`,
  )
}

/**
 * Aborts at the first SIGINT or SIGTERM. The command then ends at its next step; where none comes in time, or the signal
 * comes again, it ends at once. What commands write is whole or does not count, so that no moment is a bad one.
 */
export function stopSignal(): AbortSignal {
  const stop = new AbortController()
  const onSignal = (): void => {
    if (stop.signal.aborted) process.exit(STOPPED)
    stop.abort()
    setTimeout(() => {
      console.error('the step under way did not end; stopped in the middle of it')
      process.exit(STOPPED)
    }, STOP_MS).unref()
  }
  process.on('SIGINT', onSignal)
  process.on('SIGTERM', onSignal)
  return stop.signal
}

/** What `work` gives; throws `StopError` as soon as `stop` is aborted, so that what stands around it in `finally` runs. */
export async function unlessStopped<Result>(stop: AbortSignal, work: Promise<Result>): Promise<Result> {
  const over = new AbortController()
  const stopped = new Promise<never>((_, reject) => {
    const onStop = (): void => reject(new StopError())
    if (stop.aborted) onStop()
    else stop.addEventListener('abort', onStop, { signal: over.signal })
  })
  try {
    return await Promise.race([work, stopped])
  } finally {
    over.abort()
  }
}

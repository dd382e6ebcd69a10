import { SchemaError } from '../../infra/kafka/codec.ts'
import { LogError } from '../../infra/kafka/seam.ts'
import { TapeError } from '../../infra/tapes/tape.ts'
import { RulesError } from './core/rules.ts'
import { UsageError } from './options.ts'
import { StoppedError } from './run.ts'
import { WorkerError } from './workers.ts'

const kinds = [UsageError, TapeError, RulesError, LogError, SchemaError, StoppedError, WorkerError]

/** What a failed command says: a line for what a person can mend, the whole error for what is our fault. */
export function errorText(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const isUsage = 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS')
  return isUsage || kinds.some((kind) => error instanceof kind) ? error.message : error
}

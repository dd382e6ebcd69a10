import { tapeErrors } from '../command/open-tape.ts'
import { RulesError } from './core/rules.ts'
import { StoppedError } from './run.ts'
import { WorkerError } from './workers.ts'

/** What a backtest may fail of that a person can mend. */
export const backtestErrors = [...tapeErrors, RulesError, StoppedError, WorkerError]

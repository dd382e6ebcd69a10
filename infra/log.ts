import { createRequire } from 'node:module'
import { pino, type Logger } from 'pino'
import type * as pretty from 'pino-pretty'
import { readConfig } from './config/config.ts'

export type { Logger }

/** For what is loaded where it is used only: a service that writes to a file has no need of it. */
const require = createRequire(import.meta.url)

/** The logger of one service: JSON lines, or readable lines on a terminal. Secrets are never passed to it. */
export function createLog(service: string, env: Readonly<Record<string, string | undefined>> = process.env): Logger {
  const { LOG_LEVEL, LOG_FORMAT } = readConfig(env, ['LOG_LEVEL', 'LOG_FORMAT'])
  const options = { name: service, level: LOG_LEVEL, base: { name: service } }
  const isPretty = LOG_FORMAT === 'pretty' || (LOG_FORMAT === 'auto' && process.stdout.isTTY)
  if (!isPretty) return pino({ ...options, timestamp: pino.stdTimeFunctions.isoTime })
  const { PinoPretty } = require('pino-pretty') as typeof pretty
  return pino(
    options,
    PinoPretty({ translateTime: 'SYS:HH:MM:ss.l', ignore: 'pid,hostname,name', messageFormat: '{name}: {msg}' }),
  )
}

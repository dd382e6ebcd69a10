import { pino, type Logger } from 'pino'
import { PinoPretty } from 'pino-pretty'
import { readConfig } from './config/config.ts'

export type { Logger }

/** The logger of one service: JSON lines, or readable lines on a terminal. Secrets are never passed to it. */
export function createLog(service: string, env: Readonly<Record<string, string | undefined>> = process.env): Logger {
  const { LOG_LEVEL, LOG_FORMAT } = readConfig(env, ['LOG_LEVEL', 'LOG_FORMAT'])
  const options = { name: service, level: LOG_LEVEL, base: { name: service } }
  const pretty = LOG_FORMAT === 'pretty' || (LOG_FORMAT === 'auto' && process.stdout.isTTY)
  if (!pretty) return pino({ ...options, timestamp: pino.stdTimeFunctions.isoTime })
  return pino(
    options,
    PinoPretty({ translateTime: 'SYS:HH:MM:ss.l', ignore: 'pid,hostname,name', messageFormat: '{name}: {msg}' }),
  )
}

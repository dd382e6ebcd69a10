import { logLevel, type LogEntry, type logCreator } from 'kafkajs'
import type { Logger } from '../log.ts'

/**
 * kafkajs' log turned down. It calls every rebalance, expulsion, refused connection and existing topic an error; each
 * of these also reaches its caller as an exception, so here they are for debugging only. A consumer's crash is not.
 */
export function quietLog(log: Logger | undefined): logCreator {
  return () =>
    ({ namespace, level, log: { message, timestamp: _timestamp, logger: _logger, ...details } }: LogEntry) => {
      if (namespace === 'Consumer' && level === logLevel.ERROR) log?.warn({ kafka: details }, message)
      else log?.debug({ kafka: details, namespace }, message)
    }
}

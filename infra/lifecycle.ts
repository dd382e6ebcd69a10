import { setTimeout as delay } from 'node:timers/promises'
import { ConfigError, settingsHelp } from './config/config.ts'
import type { SettingName } from './config/settings.ts'
import { createLog, type Logger } from './log.ts'

/** A stop that takes longer is cut, said in the log, and ends with exit 1: state is safe at any crash point. */
const STOP_DEADLINE_MS = 10_000

export interface Service {
  readonly name: string
  /** One sentence for `--help`. */
  readonly description: string
  readonly settings: readonly SettingName[]
  /** Starts everything and returns how to stop it cleanly. */
  start(log: Logger): Promise<() => Promise<void>>
}

/**
 * Runs a service as this process: `--help`, configuration errors in one readable line, a clean stop on SIGTERM and
 * SIGINT, exit 1 on anything unexpected. When it is up and has an IPC channel it says `ready` to its parent.
 */
export async function runService(service: Service, stopWithinMs = STOP_DEADLINE_MS): Promise<void> {
  if (process.argv.includes('--help')) {
    console.log(`${service.name}: ${service.description}\n\nEnvironment:\n${settingsHelp(service.settings)}`)
    return
  }
  try {
    await serve(service, createLog(service.name), stopWithinMs)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    console.error(error.message)
    process.exitCode = 2
  }
}

async function serve(service: Service, log: Logger, stopWithinMs: number): Promise<void> {
  const die = (error: unknown): void => {
    log.fatal({ err: error }, 'unexpected error, stopping')
    process.exit(1)
  }
  process.on('uncaughtException', die)
  process.on('unhandledRejection', die)
  const stop = await service.start(log)
  let stopping = false
  const onSignal = (signal: string): void => {
    if (stopping) return
    stopping = true
    log.info({ signal }, 'stopping')
    const clean = stop().then(() => process.exit(0))
    const cut = delay(stopWithinMs, undefined, { ref: false }).then(() => {
      log.error(`the stop was cut after ${stopWithinMs} ms`)
      process.exit(1)
    })
    Promise.race([clean, cut]).catch(die)
  }
  process.on('SIGTERM', onSignal)
  process.on('SIGINT', onSignal)
  process.on('disconnect', () => onSignal('parent is gone'))
}

/** Tells the parent that started us where we listen. */
export function sayReady(url: string): void {
  process.send?.({ ready: url })
}

import './patch.ts'
import { Kafka, type Admin } from 'kafkajs'
import type { Logger } from '../log.ts'
import { quietLog } from './quiet-log.ts'

const REQUEST_MS = 15_000

export interface AdminOptions {
  readonly brokers: readonly string[]
  readonly clientId: string
  readonly log?: Logger | undefined
}

/** Runs `work` with a client for topics and settings. */
export async function asAdmin<Result>(
  { brokers, clientId, log }: AdminOptions,
  work: (admin: Admin) => Promise<Result>,
): Promise<Result> {
  const kafka = new Kafka({
    brokers: [...brokers],
    clientId,
    requestTimeout: REQUEST_MS,
    retry: { initialRetryTime: 100, maxRetryTime: 1_000, retries: 20 },
    logCreator: quietLog(log),
  })
  const admin = kafka.admin()
  await admin.connect()
  try {
    return await work(admin)
  } finally {
    await admin.disconnect()
  }
}

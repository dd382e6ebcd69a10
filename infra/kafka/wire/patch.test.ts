import { once } from 'node:events'
import { Socket } from 'node:net'
import ConsumerGroup, { type Coordinator } from 'kafkajs/src/consumer/consumerGroup.js'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { assertRelease } from './patch.ts'

describe('the patch of kafkajs', () => {
  it('refuses any release but the one whose internals it knows', () => {
    expect(() => assertRelease('2.2.4')).not.toThrow()
    expect(() => assertRelease('2.3.0')).toThrow('kafkajs 2.3.0 is installed, infra/kafka is made for 2.2.4')
  })

  it('sends the next heartbeat to the coordinator that there is when one is gone', async () => {
    const member = memberOf(gone, answering)
    await member.beat()
    expect(member.beats()).toBe(0)
    await member.beat()
    expect(member.beats()).toBe(1)
  })

  it('cuts off a coordinator that does not answer, well within the session', async () => {
    const socket = new Socket()
    const silent = once(socket, 'close').catch(() => Promise.reject(named('KafkaJSConnectionError')))
    const member = memberOf(
      coordinator(() => silent, [{ socket }, { socket: undefined }]),
      answering,
    )
    await member.beat()
    await member.beat()
    expect(member.beats()).toBe(1)
  })

  it('gives up after two sessions in which no coordinator is found', async () => {
    const member = memberOf(gone, undefined, 100)
    await expect.poll(() => member.beat().then(() => 'nothing', String)).toContain('KafkaJSConnectionClosedError')
  })

  it('sends heartbeats though the wall clock is put back by an hour', async () => {
    const member = memberOf(answering)
    const wall = vi.spyOn(Date, 'now').mockReturnValue(Date.now() - 3_600_000)
    onTestFinished(() => wall.mockRestore())
    await member.beat()
    expect(member.beats()).toBe(1)
  })

  it('sends no heartbeat before its time', async () => {
    const member = memberOf(answering)
    await member.beat()
    await member.beat(60_000)
    expect(member.beats()).toBe(1)
  })

  it('leaves what the coordinator answers to kafkajs', async () => {
    const member = memberOf(coordinator(() => Promise.reject(named('KafkaJSProtocolError'))))
    await expect(member.beat()).rejects.toThrow('KafkaJSProtocolError')
  })
})

const answering = coordinator(async () => undefined)
const gone = coordinator(() => Promise.reject(named('KafkaJSConnectionClosedError')))

interface Member {
  beat(interval?: number): Promise<void>
  /** Heartbeats that were answered. */
  beats(): number
}

/** A member that has joined; `next` coordinates its group when `first` is gone. */
function memberOf(first: Coordinator, next?: Coordinator, sessionTimeout = 1_500): Member {
  let beats = 0
  const group = new ConsumerGroup({
    cluster: {
      findGroupCoordinatorMetadata: async () => ({ coordinator: { nodeId: next === undefined ? 'none' : '2' } }),
      findBroker: async () => next ?? Promise.reject(named('KafkaJSBrokerNotFound')),
    },
    logger: { namespace: () => undefined },
    instrumentationEmitter: { emit: () => (beats += 1) },
    groupId: 'g',
    sessionTimeout,
  })
  group.coordinator = first
  group.memberId = 'me'
  return { beat: (interval = 0) => group.heartbeat({ interval }), beats: () => beats }
}

function coordinator(
  heartbeat: Coordinator['heartbeat'],
  pool: Coordinator['connectionPool']['pool'] = [],
): Coordinator {
  return { connectionPool: { pool }, heartbeat }
}

function named(name: string): Error {
  return Object.assign(new Error(name), { name })
}

import { describe, expect, it } from 'vitest'
import type { AlertEvent } from '../../schemas/records.ts'
import { localCodec } from '../../schemas/codec.ts'
import { partitionOf } from '../../schemas/catalogue.ts'
import { Commander, COMMANDS_WAITING_MAX } from './commander.ts'
import { commandOf } from './creation.ts'

interface Written {
  readonly partition: number
  readonly key: unknown
}

function start(): { commander: Commander; written: Written[] } {
  const written: Written[] = []
  const writer = {
    send: async (_: string, partition: number, [record]: readonly { key: unknown }[]) => {
      written.push({ partition, key: record?.key })
      return undefined
    },
    close: () => Promise.resolve(),
  }
  return { commander: new Commander({ writer, codec: localCodec(), partitions: 12 }), written }
}

function command(request: string): ReturnType<typeof commandOf> {
  return commandOf({ request, action: 'cancel', asset: 'eth', alertId: 'alert_1', now: 1 })
}

function event(kind: AlertEvent['event'], request: string, v: number): AlertEvent {
  const alert = { alert_id: 'alert_1' } as AlertEvent['alert']
  const said = { error: null, message: null, trigger_id: null, time: 1 }
  return { ...said, event: kind, alert_id: 'alert_1', request_id: request, alert, v }
}

const nothing = (): undefined => undefined

describe('a command', () => {
  it('is written to its asset’s partition', async () => {
    const { commander, written } = start()
    void commander.send(command('a'), 5)
    await expect.poll(() => written).toEqual([{ partition: partitionOf('eth', 12), key: 'eth' }])
  })

  it('is answered when the state after it can be read, not before', async () => {
    const { commander } = start()
    const answers: string[] = []
    const sent = commander.send(command('a'), 5).then(({ event: kind }) => answers.push(kind))
    commander.heard(event('cancelled', 'a', 7), () => 6)
    commander.seen('alert_1', 6)
    await Promise.resolve()
    expect([answers, commander.waiting]).toEqual([[], 1])
    commander.seen('alert_1', 7)
    await sent
    expect([answers, commander.waiting]).toEqual([['cancelled'], 0])
  })

  it.each([
    ['cancelled', 7],
    ['repeated', 3],
  ] as const)('is answered at once when that state is there: %s', async (kind, version) => {
    const { commander } = start()
    const sent = commander.send(command('a'), 5)
    commander.heard(event(kind, 'a', 7), () => version)
    expect(await sent).toMatchObject({ event: kind })
  })

  it.each(['rejected', 'tested', 'resent'] as const)(
    'that changes nothing is answered by its event: %s',
    async (kind) => {
      const { commander } = start()
      const sent = commander.send(command('a'), 5)
      commander.heard(event('rejected', 'another', 1), nothing)
      commander.heard(event(kind, 'a', 7), nothing)
      expect(await sent).toMatchObject({ event: kind })
    },
  )

  it('that was given up leaves nothing behind', () => {
    const { commander } = start()
    void commander.send(command('a'), 5)
    commander.heard(event('extended', 'a', 7), nothing)
    commander.forget('a')
    commander.seen('alert_1', 7)
    expect(commander.waiting).toBe(0)
  })

  it('is refused when too many wait', async () => {
    const { commander } = start()
    for (let n = 0; n < COMMANDS_WAITING_MAX; n += 1) void commander.send(command(`n${n}`), 5)
    await expect(commander.send(command('one more'), 5)).rejects.toMatchObject({ code: 'overloaded' })
  })
})

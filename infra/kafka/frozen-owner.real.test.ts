import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, inject, it, onTestFinished, vi } from 'vitest'
import { startChild, type Child } from '../local/child.ts'
import { freeze } from '../local/testing/faults.ts'
import { openClaim } from './wire/claim.ts'
import { Link } from './wire/internals.ts'
import { connectLog } from './kafkajs.ts'
import { Appender } from './wire/produce.ts'
import type { Log } from './seam.ts'
import { forgotten } from './testing/owners.ts'
import { createTestTopics, freshNamespace } from './testing/topics.ts'

const { brokers } = inject('parts')
const program = fileURLToPath(new URL('testing/owner.ts', import.meta.url))
const OUT = { topic: 'out', partition: 0 }

describe('an owner that was frozen', () => {
  let folder: string
  let namespace: string
  let log: Log
  let owner: Child

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'owner-'))
    namespace = freshNamespace()
    await createTestTopics(brokers, [`${namespace}out`])
    log = await connectLog({ brokers, namespace, clientId: 'test' })
    owner = await startChild({
      name: 'owner',
      command: [process.execPath, program, brokers[0] ?? '', namespace],
      logFile: join(folder, 'owner.log'),
      ready: 'message',
      readyWithinMs: 60_000,
      stopWithinMs: 5_000,
    })
  })

  afterEach(async () => {
    await owner.stop()
    await log.close()
    await rm(folder, { recursive: true, force: true })
  })

  /** What the partition holds now. */
  async function written(): Promise<string[]> {
    const values: string[] = []
    for await (const records of log.reader().toEnd('out', 0)) {
      values.push(...records.map(({ value }) => value?.toString() ?? ''))
    }
    return values
  }

  it('is refused when it wakes after the broker forgot it and another claimed its partition', async () => {
    await freeze(owner.pid)
    await forgotten(brokers)
    const claim = await log.claim('owner-0', [OUT])
    expect(claim.epoch).toBe(1) // under a producer id of its own: the broker has nothing against the other
    const before = await written()
    process.kill(owner.pid, 'SIGCONT')
    await owner.exited
    expect(await readFile(join(folder, 'owner.log'), 'utf8')).toBe('fenced\n')
    await claim.send('out', 0, [{ key: null, value: Buffer.from('new'), time: Date.now() }])
    expect(await written()).toEqual([...before, 'new'])
  })

  it('has to claim anew when it wakes after the broker forgot it, though nobody came meanwhile', async () => {
    await freeze(owner.pid)
    await forgotten(brokers)
    const before = await written()
    process.kill(owner.pid, 'SIGCONT')
    await owner.exited
    expect(await readFile(join(folder, 'owner.log'), 'utf8')).toBe('fenced\n')
    expect(await written()).toEqual(before)
  })

  it('hears of it by its renewal that another has claimed, though it writes nothing', async () => {
    const idle = await log.claim('idle-0', [OUT])
    await log.claim('idle-0', [OUT])
    expect(await idle.lost).toMatchObject({ code: 'fenced' })
  })

  it('goes on where it was when it wakes past its lease while the broker still knows it', async () => {
    const LEASE_MS = 5_000
    await freeze(owner.pid)
    await new Promise((resolve) => {
      setTimeout(resolve, LEASE_MS) // the freeze's own length
    })
    const count = (await written()).length
    process.kill(owner.pid, 'SIGCONT')
    await expect.poll(async () => (await written()).length).toBeGreaterThan(count)
    const values = await written()
    expect(values).toEqual(values.map((_value, number) => `${number}`))
  })
})

it('an owner renews at once when its wall clock was put ahead past its lease', async () => {
  const namespace = freshNamespace()
  await createTestTopics(brokers, [`${namespace}out`])
  const link = new Link({ brokers, clientId: 'test' })
  const terms = { leaseMs: 600_000, renewEveryMs: 200_000 }
  const claim = await openClaim({
    link,
    appender: new Appender(link),
    namespace,
    owner: 'owner-0',
    targets: [OUT],
    terms,
    giveUpMs: 20_000,
  })
  const wall = vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 3_600_000)
  onTestFinished(async () => {
    wall.mockRestore()
    await claim.close()
    await link.close()
  })
  expect(await claim.send('out', 0, [{ key: null, value: Buffer.from('on'), time: 0 }])).toBe(2)
})

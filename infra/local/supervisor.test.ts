import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { asPages, guarded } from '../http/testing/pages.ts'
import { startChild, type Child } from './child.ts'
import { startControl, Supervisor, type Pace, type Part, type PartReport } from './supervisor.ts'

const folder = mkdtempSync(path.join(tmpdir(), 'supervisor-'))
const PACE: Pace = { firstMs: 1, mostMs: 20, resetAfterMs: 60_000, diskFullMs: 5 }
const stops: (() => Promise<void>)[] = []

afterEach(async () => {
  for (const stop of stops.splice(0)) await stop()
})
afterAll(() => rmSync(folder, { recursive: true }))

function supervise(more: { freeBytes?: () => number; lines?: string[] } = {}): Supervisor {
  const supervisor = new Supervisor(
    { log: (line) => more.lines?.push(line), changed: () => undefined, freeBytes: more.freeBytes ?? (() => Infinity) },
    PACE,
  )
  stops.push(() => supervisor.stop())
  return supervisor
}

/** A real child process that only waits. */
function fake(name: string, script = ''): Part {
  const wait = `setInterval(() => {}, 1000); ${script}; process.send({ ready: 'http://${name}' })`
  const start = (): Promise<Child> =>
    startChild({
      name,
      command: [process.execPath, '-e', wait],
      logFile: path.join(folder, `${name}.log`),
      ready: 'message',
      readyWithinMs: 60_000,
      stopWithinMs: 5_000,
    })
  return { name, start }
}

function only(supervisor: Supervisor): PartReport | undefined {
  return supervisor.parts()[0]
}

describe('the supervisor', () => {
  it('starts a part again that was killed, as another process', async () => {
    const supervisor = supervise()
    const first = await supervisor.start(fake('victim'))
    process.kill(first.pid, 'SIGKILL')
    await expect.poll(() => only(supervisor), { timeout: 60_000 }).toMatchObject({ state: 'running', restarts: 1 })
    expect(only(supervisor)?.pid).not.toBe(first.pid)
  })

  it('gives the first failure to its caller', async () => {
    await expect(supervise().start(fake('broken', 'process.exit(1)'))).rejects.toThrow('broken ended before')
  })

  it('never gives up on a part that keeps failing', async () => {
    const supervisor = supervise()
    const good = fake('shaky')
    let starts = 0
    const child = await supervisor.start({
      name: 'shaky',
      start: () => (++starts === 1 || starts > 6 ? good.start() : Promise.reject(new Error('not yet'))),
    })
    process.kill(child.pid, 'SIGKILL')
    await expect.poll(() => only(supervisor), { timeout: 60_000 }).toMatchObject({ state: 'running', restarts: 6 })
  })

  it('starts nothing while the disk is full, and says so', async () => {
    const lines: string[] = []
    let free = 0
    const supervisor = supervise({ freeBytes: () => free, lines })
    const child = await supervisor.start(fake('full'))
    process.kill(child.pid, 'SIGKILL')
    await expect.poll(() => lines.join('\n')).toContain('full waits for room: the disk is full')
    expect(only(supervisor)).toMatchObject({ state: 'waiting', restarts: 0 })
    free = Infinity
    await expect.poll(() => only(supervisor), { timeout: 60_000 }).toMatchObject({ state: 'running', restarts: 1 })
  })

  it('stops its parts in the reverse of the order of their start', async () => {
    const supervisor = supervise()
    const ended: string[] = []
    for (const name of ['broker', 'feeds', 'api']) {
      const child = await supervisor.start(fake(name))
      void child.exited.then(() => ended.push(name))
    }
    await supervisor.stop()
    expect(ended).toEqual(['api', 'feeds', 'broker'])
    expect(supervisor.parts().map((part) => part.state)).toEqual(['stopped', 'stopped', 'stopped'])
  })

  it('stops a part that is being started again', async () => {
    const supervisor = supervise()
    const part = fake('slow')
    const gate = Promise.withResolvers<undefined>()
    const children: Child[] = []
    const start = async (): Promise<Child> => {
      if (children.length > 0) await gate.promise
      const child = await part.start()
      children.push(child)
      return child
    }
    const first = await supervisor.start({ name: 'slow', start })
    process.kill(first.pid, 'SIGKILL')
    await expect.poll(() => only(supervisor)?.state).toBe('starting')
    const stopped = supervisor.stop()
    gate.resolve(undefined)
    await stopped
    expect(only(supervisor)?.state).toBe('stopped')
    await Promise.all(children.map((child) => child.exited))
    expect(children).toHaveLength(2)
  })
})

describe('the control endpoint', () => {
  async function control(supervisor: Supervisor): Promise<string> {
    const server = await startControl(supervisor)
    stops.push(() => server.close())
    return server.url
  }

  it('keeps a part down for as long as asked, then starts it again', async () => {
    const supervisor = supervise()
    const first = await supervisor.start(fake('held'))
    const url = await control(supervisor)
    const answer = await fetch(`${url}/hold/held?ms=1500`, { method: 'POST' })
    expect(await answer.json()).toEqual({ part: 'held', ms: 1_500 })
    await expect.poll(() => only(supervisor)?.state).toBe('held')
    await expect.poll(() => only(supervisor)?.state, { timeout: 60_000 }).toBe('running')
    expect(only(supervisor)?.pid).not.toBe(first.pid)
  })

  it('lists the parts', async () => {
    const supervisor = supervise()
    const child = await supervisor.start(fake('listed'))
    const answer = await fetch(`${await control(supervisor)}/parts`)
    expect(await answer.json()).toEqual([
      { name: 'listed', state: 'running', pid: child.pid, url: 'http://listed', restarts: 0 },
    ])
  })

  it('obeys no web page of another site', async () => {
    expect(await asPages(`${await control(supervise())}/hold/x`)).toEqual(guarded)
  })

  it.each([
    ['an unknown part', '/hold/nobody', {}, 404],
    ['a time that is no number', '/hold/x?ms=soon', {}, 400],
    ['a time over the limit', '/hold/x?ms=600001', {}, 400],
    ['another path', '/', {}, 404],
  ])('refuses %s', async (_what, target, headers, status) => {
    const answer = await fetch((await control(supervise())) + target, { method: 'POST', headers })
    expect(answer.status).toBe(status)
  })
})

import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, it } from 'vitest'

/** A signal that a program has no handler for does nothing to it where it is a container's first process. */
const running: ChildProcess[] = []
afterEach(() => running.splice(0).forEach((child) => child.kill('SIGKILL')))

function start(program: string, env: Readonly<Record<string, string>> = {}): ChildProcess {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], { env: { ...process.env, ...env } })
  running.push(child)
  return child
}

const urlOf = (file: string): string => new URL(file, import.meta.url).href

it('a service that is told to stop while it starts ends by itself', async () => {
  const child = start(`
    import { runService } from '${urlOf('lifecycle.ts')}'
    const start = () => new Promise(() => setInterval(() => console.log('starting'), 10))
    await runService({ name: 'slow', description: '', settings: [], start })`)
  if (child.stdout !== null) await once(child.stdout, 'data')
  child.kill('SIGTERM')
  expect(await once(child, 'exit')).toEqual([0, null])
})

it('a preparation that is told to stop ends by itself, and is not done', async () => {
  const registry = createServer()
  await once(registry.listen(0, '127.0.0.1'), 'listening')
  const url = `http://127.0.0.1:${(registry.address() as AddressInfo).port}/apis/ccompat/v7`
  const child = start(`import '${urlOf('prepare.ts')}'`, { SCHEMA_REGISTRY_URL: url })
  await once(registry, 'request')
  child.kill('SIGTERM')
  expect(await once(child, 'exit')).toEqual([1, null])
  registry.closeAllConnections()
  registry.close()
})

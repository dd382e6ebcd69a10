import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { topics } from '../../schemas/topics.ts'
import { loadCodec } from './codec.ts'

const asked: string[] = []
let [open, most] = [0, 0]

/** Knows every schema, each by an id of its own. */
const registry = createServer((request, response) => {
  asked.push(request.url ?? '')
  open += 1
  most = Math.max(most, open)
  const id = asked.length
  setTimeout(() => {
    open -= 1
    response.end(JSON.stringify({ id }))
  }, 1)
})

afterEach(() => {
  registry.close()
})

describe('the codec of a process', () => {
  it('asks for each schema once, a few at a time', async () => {
    await once(registry.listen(0, '127.0.0.1'), 'listening')
    await loadCodec(`http://127.0.0.1:${(registry.address() as AddressInfo).port}`)
    expect(new Set(asked).size).toBe(topics.flatMap(({ records }) => records).length)
    expect(asked).toHaveLength(new Set(asked).size)
    expect(most).toBe(4)
  })
})

import { expect, it } from 'vitest'
import { LogError } from '../../seam.ts'
import { IN, readAll, STATE, T0, TARGETS, text, texts, type Start } from './parts.ts'

const RENEWALS_MAX = 100

/** What every writer must do. */
export function writerContract(start: Start): void {
  it('keeps the order of sends that do not wait for each other', async () => {
    const { log } = await start()
    const writer = log.writer()
    const numbers = Array.from({ length: 300 }, (_, index) => index)
    await Promise.all(numbers.map((number) => writer.send(IN, number % 3, [text(`${number}`), text(`${number}+`)])))
    const reader = log.reader()
    for (const partition of [0, 1, 2]) {
      const own = numbers.filter((number) => number % 3 === partition)
      const expected = own.flatMap((number) => [`${number}`, `${number}+`])
      expect(texts(await readAll(reader, IN, undefined, partition))).toEqual(expected)
    }
  })

  it('tells where each send lies, however they were merged', async () => {
    const { log } = await start()
    const writer = log.writer()
    const sends = ['a', 'b', 'c'].map((name) => writer.send(IN, 0, [text(name), text(name)]))
    expect(await Promise.all(sends)).toEqual([0, 2, 4])
    expect(await writer.send(IN, 0, [])).toBeUndefined()
  })

  it('writes nothing for a send of no records', async () => {
    const { log } = await start()
    await log.writer().send(IN, 0, [])
    expect((await log.reader().offsets(IN, [0], 'end')).get(0)).toBe(0)
  })

  it(
    'appends a send of 40,000 records and 32 MB as one: all of it or none can be seen',
    { timeout: 60_000 },
    async () => {
      const { log } = await start()
      const claim = await log.claim('cvd-0', TARGETS)
      const reader = log.reader()
      const before = (await reader.offsets(STATE, [0], 'end')).get(0) ?? 0
      const big = Array.from({ length: 40_000 }, (_, index) => ({
        key: `${index}`,
        value: Buffer.alloc(800, index),
        time: T0,
      }))
      const sent = claim.send(STATE, 0, big)
      const seen = new Set<number>()
      const state = { done: false }
      const watching = (async () => {
        while (!state.done) seen.add(((await reader.offsets(STATE, [0], 'end')).get(0) ?? 0) - before)
      })()
      await sent
      state.done = true
      await watching
      // what renews the claim has offsets as well
      expect([...seen].filter((offsets) => offsets > RENEWALS_MAX && offsets < 40_000)).toEqual([])
      const read = await readAll(log.reader(), STATE, before)
      expect(read.map(({ key }) => key?.toString())).toEqual(big.map(({ key }) => key))
      expect(read.every(({ value }, index) => value?.equals(Buffer.alloc(800, index)))).toBe(true)
    },
  )

  it('shows what one client wrote to another', async () => {
    const { log, another } = await start()
    const other = await another()
    await log.writer().send(IN, 0, [text('a')])
    expect(texts(await readAll(other.reader(), IN))).toEqual(['a'])
    await other.close()
  })

  it('refuses to write after it was closed', async () => {
    const { log } = await start()
    const writer = log.writer()
    await writer.send(IN, 0, [text('a')])
    await writer.close()
    await expect(writer.send(IN, 0, [text('b')])).rejects.toMatchObject({ code: 'closed' })
    await expect(writer.send(IN, 0, [text('b')])).rejects.toBeInstanceOf(LogError)
  })
}

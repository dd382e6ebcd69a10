import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { FramesWriter } from './frames-writer.ts'

let dir = ''
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'frames-'))
})
afterEach(async () => {
  await rm(dir, { recursive: true, force: true })
})

async function linesOf(venue: string): Promise<string[]> {
  const names = (await readdir(join(dir, venue))).toSorted()
  const texts = await Promise.all(names.map(async (name) => gunzipSync(await readFile(join(dir, venue, name)))))
  return texts.flatMap((text) => text.toString('utf8').split('\n')).filter((line) => line !== '')
}

describe('tapes of raw frames', () => {
  it('hold each frame as it came, one a line, by venue', async () => {
    const writer = new FramesWriter({ dir, maxBytes: 1e9, onDrop: () => undefined })
    writer.write('okx', '{"px":"1.10",\n"b":1}', 1_700_000_000_000_001, true)
    writer.write('okx', 'pong', 2, true)
    writer.write('okx', '{"half', 3, false)
    writer.write('bybit', '[1]', 4, true)
    await writer.close()
    expect(await linesOf('okx')).toEqual([
      '{"recv_ns":1700000000000001000,"raw":{"px":"1.10", "b":1}}',
      '{"recv_ns":2000,"raw":"pong"}',
      '{"recv_ns":3000,"raw":"{\\"half"}',
    ])
    expect(await linesOf('bybit')).toEqual(['{"recv_ns":4000,"raw":[1]}'])
  })

  it('keep the order of the frames over the change of the hour', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2026-01-01T00:59:59Z') })
    const filling = 'x'.repeat(100_000) // each frame goes to its tape at once
    const writer = new FramesWriter({ dir, maxBytes: 1e9, onDrop: () => undefined })
    writer.write('okx', `0${filling}`, 1, false)
    vi.setSystemTime(Date.parse('2026-01-01T01:00:00Z'))
    for (const name of ['1', '2', '3']) writer.write('okx', name + filling, 1, false)
    vi.useRealTimers()
    await writer.close()
    expect(await readdir(join(dir, 'okx'))).toHaveLength(2)
    expect((await linesOf('okx')).map((line) => /"raw":"(\d)/.exec(line)?.[1])).toEqual(['0', '1', '2', '3'])
  })

  it('stay within their limit: the oldest hour goes first', async () => {
    await mkdir(join(dir, 'okx'))
    for (const hour of ['2026-01-01T00', '2026-01-01T01', '2026-01-01T02']) {
      await writeFile(join(dir, 'okx', `${hour}-1.jsonl.gz`), Buffer.alloc(100))
    }
    const writer = new FramesWriter({ dir, maxBytes: 250, onDrop: () => undefined })
    await vi.waitFor(async () => expect(await readdir(join(dir, 'okx'))).toHaveLength(2), 5_000)
    await writer.close()
    expect((await readdir(join(dir, 'okx'))).toSorted()[0]).toContain('T01')
  })

  it('are dropped and counted where the disk cannot take them', async () => {
    await writeFile(join(dir, 'okx'), 'a file where the folder should be')
    const onDrop = vi.fn<(count: number, error?: unknown) => void>()
    const writer = new FramesWriter({ dir, maxBytes: 1e9, onDrop })
    writer.write('okx', '{}', 1, true)
    await writer.close()
    expect(onDrop).toHaveBeenCalledWith(1, expect.any(Error))
  })
})

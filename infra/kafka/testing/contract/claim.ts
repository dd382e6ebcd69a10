import { expect, it } from 'vitest'
import { FencedError, type Claim } from '../../seam.ts'
import { OUT, positionOf, readAll, STATE, TARGETS, text, texts, WAIT, type Start } from './parts.ts'

/** What every claim must do. */
export function claimContract(start: Start): void {
  it('refuses an older claim once a newer one stands', async () => {
    const { log, another } = await start()
    const old = await log.claim('cvd-0', TARGETS)
    await old.send(OUT, 0, [text('old')])
    const other = await another()
    const claim = await other.claim('cvd-0', TARGETS)
    await expect(old.send(OUT, 0, [text('zombie')])).rejects.toBeInstanceOf(FencedError)
    await expect(old.send(STATE, 0, [text('zombie')])).rejects.toMatchObject({ code: 'fenced' })
    await claim.send(OUT, 0, [text('new')])
    await expect(old.send(OUT, 0, [text('zombie')])).rejects.toBeInstanceOf(FencedError)
    expect(claim.epoch).toBeGreaterThan(old.epoch)
    expect(texts(await readAll(log.reader(), OUT))).toEqual(['old', 'new'])
    expect(texts(await readAll(log.reader(), STATE))).toEqual([])
    await other.close()
  })

  it('lets nothing of an older owner in once the newer claim resolved, not even what was under way', async () => {
    const { log, another } = await start()
    const other = await another()
    const reader = log.reader()
    for (let round = 0; round < 5; round += 1) {
      const old = await log.claim('cvd-0', TARGETS)
      const zombie = flood(old)
      await expect.poll(() => zombie.written.length).toBeGreaterThan(3)
      await other.claim('cvd-0', TARGETS)
      const end = (await reader.offsets(OUT, [0], 'end')).get(0) ?? 0
      await zombie.fenced
      expect((await reader.offsets(OUT, [0], 'end')).get(0)).toBe(end)
      const seen = new Set(texts(await readAll(reader, OUT)))
      expect(zombie.written.filter((name) => !seen.has(name))).toEqual([])
    }
    await other.close()
  })

  it('keeps the order of a claim’s sends that do not wait for each other', async () => {
    const { log } = await start()
    const claim = await log.claim('cvd-0', TARGETS)
    const names = Array.from({ length: 200 }, (_, index) => `${index}`)
    await Promise.all(names.map((name) => claim.send(OUT, 0, [text(name)])))
    expect(texts(await readAll(log.reader(), OUT))).toEqual(names)
  })

  it('does not disturb the claims of other partitions', async () => {
    const { log } = await start()
    const first = await log.claim('cvd-0', TARGETS)
    const second = await log.claim('cvd-1', [{ topic: OUT, partition: 1 }])
    await log.claim('cvd-2', [{ topic: OUT, partition: 2 }])
    await Promise.all([first.send(OUT, 0, [text('a')]), second.send(OUT, 1, [text('b')])])
    expect(texts(await readAll(log.reader(), OUT))).toEqual(['a'])
    expect(texts(await readAll(log.reader(), OUT, undefined, 1))).toEqual(['b'])
  })

  it('lets readers past what claims leave in the log', async () => {
    const { log } = await start()
    for (let claims = 0; claims < 3; claims += 1) await log.claim('cvd-0', TARGETS)
    const reader = log.reader()
    expect(await readAll(reader, STATE)).toEqual([])
    const end = (await reader.offsets(STATE, [0], 'end')).get(0) ?? 0
    let offset = 0
    await expect
      .poll(async () => {
        const [slice] = await reader.fetch([positionOf(STATE, 0, offset)], WAIT)
        offset = slice?.next ?? offset
        return offset
      })
      .toBe(end)
  })

  it('stands for as long as its owner does, however soon owners without a sign are forgotten', async () => {
    const { log, another, forgotten } = await start()
    const old = await log.claim('cvd-0', TARGETS)
    await old.send(OUT, 0, [text('before')])
    await forgotten?.()
    await old.send(OUT, 0, [text('after')])
    const other = await another()
    const claim = await other.claim('cvd-0', TARGETS)
    expect(claim.epoch).toBeGreaterThan(old.epoch)
    await expect(old.send(OUT, 0, [text('replaced')])).rejects.toBeInstanceOf(FencedError)
    await claim.send(OUT, 0, [text('new')])
    expect(texts(await readAll(log.reader(), OUT))).toEqual(['before', 'after', 'new'])
    await other.close()
  })

  it('shows a new claim everything that the old owner was told is written', async () => {
    const { log, another } = await start()
    const other = await another()
    const old = await log.claim('cvd-0', TARGETS)
    const zombie = flood(old)
    await expect.poll(() => zombie.written.length).toBeGreaterThan(10)
    await other.claim('cvd-0', TARGETS)
    const restored = new Set(texts(await readAll(other.reader(), OUT)))
    await zombie.fenced
    expect(zombie.written.filter((name) => !restored.has(name))).toEqual([])
    await other.close()
  })
}

/** An owner that writes without a stop until it is refused. `written`: what it was told is in the log. */
function flood(claim: Claim): { readonly written: string[]; readonly fenced: Promise<void> } {
  const written: string[] = []
  const fenced = (async () => {
    for (let number = 0; ; number += 1) {
      const name = `${claim.epoch}/${number}`
      try {
        await claim.send(OUT, 0, [text(name)])
        written.push(name)
      } catch (error) {
        if (error instanceof FencedError) return
        throw error
      }
    }
  })()
  return { written, fenced }
}

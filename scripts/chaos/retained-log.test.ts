import { beforeEach, describe, expect, it } from 'vitest'
import type { LogRecord } from '../../infra/kafka/seam.ts'
import { MemoryBroker, stillClock } from '../../processors/kernel/testing/memory-log.ts'
import { RetainedLog } from './retained-log.ts'

const TOPIC = 'market.trades'

let broker: MemoryBroker
let kept: RetainedLog
beforeEach(() => {
  broker = new MemoryBroker(stillClock)
  kept = new RetainedLog(broker.connect().reader(), [TOPIC], 2)
})

function append(...words: readonly string[]): void {
  for (const word of words) broker.append(TOPIC, 1, [{ key: null, value: Buffer.from(word), time: 0 }])
}

async function told(from?: number): Promise<string[]> {
  const words: string[] = []
  for await (const records of kept.toEnd(TOPIC, 1, from)) {
    for (const { offset, value } of records)
      words.push(`${value?.toString()}@${offset}/${kept.realOf(TOPIC, 1, offset)}`)
  }
  return words
}

/** Takes the tail from `from` on off the log, as an accident does. */
function cut(from: number): void {
  const records: readonly LogRecord[] = broker.records(TOPIC, 1).filter(({ offset }) => offset >= from)
  broker.lose(TOPIC, 1, from)
  kept.cut(TOPIC, 1, { from, to: from + records.length, records })
}

describe('the log as it was before accidents', () => {
  it('still has what was deleted from its start', async () => {
    append('a', 'b', 'c')
    await kept.advance()
    broker.truncate(TOPIC, 1, 2)
    append('d')
    expect(await told()).toEqual(['a@0/0', 'b@1/1', 'c@2/2', 'd@3/3'])
  })

  it('still has a tail that was cut, read before or not, and goes on behind it', async () => {
    append('a', 'b')
    await kept.advance()
    append('c', 'd')
    cut(1)
    append('e')
    expect(await told()).toEqual(['a@0/0', 'b@1/1', 'c@2/2', 'd@3/3', 'e@4/1'])
    append('f')
    expect(await told(5)).toEqual(['f@5/2'])
    expect(await kept.offsets(TOPIC, [1], 'end')).toEqual(new Map([[1, 6]]))
    expect(kept.realOf(TOPIC, 1, 6)).toBe(3)
  })

  it('still has a tail that was cut behind what had been read', async () => {
    append('a')
    await kept.advance()
    append('b', 'c')
    cut(2)
    append('d', 'e')
    expect(await told()).toEqual(['a@0/0', 'b@1/1', 'c@2/2', 'd@3/2', 'e@4/3'])
  })

  it('was cut twice, the second time further', async () => {
    append('a', 'b', 'c')
    await kept.advance()
    cut(2)
    append('d')
    await kept.advance()
    cut(1)
    append('e')
    expect(await told()).toEqual(['a@0/0', 'b@1/1', 'c@2/2', 'd@3/2', 'e@4/1'])
  })

  it('forgets what nobody had read of what was cut', async () => {
    append('a', 'b', 'c', 'd')
    await kept.advance()
    cut(1)
    append('e')
    await kept.advance()
    kept.forget(TOPIC, (partition, cutFrom, offset) => partition === 1 && cutFrom === 1 && offset < 3)
    expect(await told()).toEqual(['a@0/0', 'b@1/1', 'c@2/2', 'e@4/1'])
  })
})

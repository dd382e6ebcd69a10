import { describe, expect, it } from 'vitest'
import { topicOf } from '../schemas/topics.ts'
import { OFFSETS, versionOf } from './kernel/version.ts'
import { processorsNamed, topology } from './topology.ts'

describe('the topology', () => {
  it('names each processor once', () => {
    expect(new Set(topology.map(({ name }) => name)).size).toBe(topology.length)
  })

  it.each(topology)('has $name work on partitions that mean the same assets in every topic', (row) => {
    for (const topic of [...row.inputs, row.state]) expect(topicOf(topic).partitions).toBe('asset')
    for (const topic of row.outputs) {
      expect(topicOf(topic).partitions).toBe(topic === 'alerts.triggers' ? 'receiver' : 'asset')
    }
  })

  it.each(topology)('gives $name a state topic that is a cache of snapshots, all its own', (row) => {
    expect(topicOf(row.state)).toMatchObject({ kind: 'cache', records: ['snapshot'] })
    expect(topology.filter(({ state }) => state === row.state)).toHaveLength(1)
  })

  it.each(topology)('gives $name a generation that versions can hold', ({ generation, reason }) => {
    expect(Number.isInteger(generation) && generation >= 1).toBe(true)
    expect(Number.isSafeInteger(versionOf(generation, OFFSETS - 1))).toBe(true)
    expect(reason).not.toBe('')
  })

  it('has one writer for each topic of upserts, since versions of two logs do not compare', () => {
    const written = topology.flatMap(({ outputs }) => outputs).filter((topic) => topicOf(topic).kind === 'upsert')
    expect(new Set(written).size).toBe(written.length)
  })

  it('gives all processors where none is named, and refuses a name that it does not know', () => {
    expect(processorsNamed([])).toEqual(topology)
    expect(processorsNamed(['cvd']).map(({ name }) => name)).toEqual(['cvd'])
    expect(() => processorsNamed(['cvd', 'prices2'])).toThrow('no processor prices2; there are cvd')
  })
})

import { describe, expect, it } from 'vitest'
import { assertRelease } from './patch.ts'

describe('the patch of kafkajs', () => {
  it('refuses any release but the one whose internals it knows', () => {
    expect(() => assertRelease('2.2.4')).not.toThrow()
    expect(() => assertRelease('2.3.0')).toThrow('kafkajs 2.3.0 is installed, infra/kafka is made for 2.2.4')
  })
})

import { hostname } from 'node:os'
import { describe, expect, it } from 'vitest'
import { readHostConfig } from './host-settings.ts'

describe('the name of a feed process', () => {
  it('is that of its machine where none is given, so that two machines never have the same', () => {
    expect(readHostConfig({}).FEED_NAME).toBe(`feeds-${hostname()}`)
    expect(readHostConfig({ FEED_NAME: '' }).FEED_NAME).toBe(`feeds-${hostname()}`)
  })

  it('is the one that is given', () => {
    expect(readHostConfig({ FEED_NAME: 'feeds-b' }).FEED_NAME).toBe('feeds-b')
  })
})

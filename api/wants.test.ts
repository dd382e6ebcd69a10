import { describe, expect, it } from 'vitest'
import { readiness, type StreamFacts } from './wants.ts'

const all = new Set(['binance', 'okx'])
const some = new Set(['okx'])
const none = new Set<string>()

const quiet: StreamFacts = {
  listed: all,
  acknowledged: none,
  meant: false,
  askedAge: undefined,
  acknowledgedAge: undefined,
  firstTradeAge: undefined,
}

describe('readiness', () => {
  it.each<[string, Partial<StreamFacts>, string]>([
    ['nobody streams it', {}, 'unwanted'],
    ['it was streamed once and lapsed', { firstTradeAge: 1e9 }, 'unwanted'],
    ['meant to be streamed, but nothing ever came', { meant: true }, 'unwanted'],
    ['meant and with data, its feed gone', { meant: true, firstTradeAge: 10_000 }, 'ready'],
    ['meant, data too young', { meant: true, firstTradeAge: 9_999 }, 'warming'],
    ['streamed by others for 10 s', { acknowledged: all, acknowledgedAge: 10_000 }, 'ready'],
    ['streamed by others for less', { acknowledged: all, acknowledgedAge: 9_999 }, 'warming'],
    ['a feed that restarts has old data', { acknowledged: some, acknowledgedAge: 0, firstTradeAge: 10_000 }, 'ready'],
    ['just asked for', { askedAge: 0 }, 'warming'],
    ['asked for, old data do not count', { askedAge: 5_000, acknowledged: all, firstTradeAge: 1e9 }, 'warming'],
    ['all acknowledged after 10 s', { askedAge: 10_000, acknowledged: all }, 'ready'],
    ['all acknowledged before 10 s', { askedAge: 9_999, acknowledged: all }, 'warming'],
    ['one missing after 10 s', { askedAge: 10_000, acknowledged: some }, 'warming'],
    ['one missing just before 30 s', { askedAge: 29_999, acknowledged: some }, 'warming'],
    ['one missing after 30 s', { askedAge: 30_000, acknowledged: some }, 'ready'],
    ['none after 30 s', { askedAge: 30_000 }, 'unavailable'],
    ['none after 30 s, but data', { askedAge: 30_000, firstTradeAge: 1e6 }, 'ready'],
    ['no list yet, after 10 s', { askedAge: 10_000, listed: none, acknowledged: some }, 'warming'],
  ])('%s', (_, facts, expected) => {
    expect(readiness({ ...quiet, ...facts })).toBe(expected)
  })
})

import { createServer } from 'node:http'
import { describe, expect, it, onTestFinished } from 'vitest'
import { Ledger } from './source-ledger.ts'

async function ledgerOf(lines: readonly object[]): Promise<Ledger> {
  const server = createServer((_request, answer) => answer.end(JSON.stringify(lines)))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const address = server.address()
  return new Ledger(`http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`)
}

it('counts all of an instrument of which nothing has traded but what was there before it was subscribed', async () => {
  const line = { venue: 'binance', trades: 0, buy_volume: '0', sell_volume: '0' }
  const ledger = await ledgerOf([
    { ...line, instrument: 'BTCUSDT', begin_time: 0 },
    { ...line, instrument: 'ETHUSDT', begin_time: 7_001_000 },
  ])
  expect([...(await ledger.begins())]).toEqual([
    ['binance:perp:BTCUSDT', 0],
    ['binance:perp:ETHUSDT', 7_001_000],
  ])
})

describe('a pause for as long as something is compared', () => {
  const answersTo = async (wasPaused: boolean, work: (ledger: Ledger) => Promise<void>): Promise<string[]> => {
    const asked: string[] = []
    const server = createServer(({ url = '' }, answer) => {
      asked.push(url)
      answer.end(JSON.stringify({ paused: url === '/pause', was_paused: wasPaused }))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    const address = server.address()
    await work(new Ledger(`http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`))
    return asked
  }

  it('ends with it, also where that fails', async () => {
    const failing = async (ledger: Ledger): Promise<void> => {
      const paused = ledger.whilePaused(() => Promise.reject(new Error('the log does not answer')))
      await expect(paused).rejects.toThrow('the log does not answer')
    }
    expect(await answersTo(false, failing)).toEqual(['/pause', '/resume'])
  })

  it('stays where the market was paused before', async () => {
    const well = async (ledger: Ledger): Promise<void> =>
      expect(await ledger.whilePaused(() => Promise.resolve(7))).toBe(7)
    expect(await answersTo(true, well)).toEqual(['/pause'])
  })
})

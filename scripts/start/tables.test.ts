import { expect, it } from 'vitest'
import { tellTables } from './tables.ts'

async function told(looks: readonly (number | Error)[]): Promise<{ said: string[]; closed: number }> {
  const left = [...looks]
  const said: string[] = []
  let [time, closed] = [0, 0]
  const open = () =>
    Promise.resolve({
      look: () => {
        const next = left.shift()
        if (next instanceof Error) return Promise.reject(next)
        return Promise.resolve({ read: 50_000, left: next ?? 0 })
      },
      close: () => {
        closed += 1
        return Promise.resolve()
      },
    })
  const wait = (ms: number): Promise<void> => {
    time += ms
    return Promise.resolve()
  }
  await tellTables(open, (line) => said.push(line), -2_000, { now: () => time, wait })
  return { said, closed }
}

it('says how many records were read, and how long that took, once all are', async () => {
  expect(await told([40_000, 30_000, 5_000])).toEqual({
    said: ['the tables: 50,000 records of the log are in ClickHouse, after 5.0 s, 100 s a million'],
    closed: 1,
  })
})

it('asks again where it is not answered, and says why once', async () => {
  const lost = new Error('no broker')
  expect(await told([40_000, lost, lost, 100])).toEqual({
    said: [
      'the tables: how far they are is not known now: no broker',
      'the tables: 50,000 records of the log are in ClickHouse, after 6.0 s, 120 s a million',
    ],
    closed: 3,
  })
})

it('says nothing where there is little to read', async () => {
  const said: string[] = []
  await tellTables(
    () => Promise.resolve(undefined),
    (line) => said.push(line),
    0,
  )
  expect(said).toEqual([])
})

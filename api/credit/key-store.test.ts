import { expect, it } from 'vitest'
import type { ApiKey } from '../../schemas/records.ts'
import { KeyStore } from './key-store.ts'

function key(change: Partial<ApiKey>): ApiKey {
  return { key_id: 'a', owner: 'w', created: 1, charged: 0, v: 1, ...change } as ApiKey
}

it('keeps of a key what was written last, whichever comes last, and shows the newest of a wallet first', () => {
  const keys = new KeyStore()
  for (const charged of [0, 2, 1]) keys.put(key({ charged, v: charged }))
  keys.put(key({ key_id: 'b', created: 2 }))
  expect(keys.of('w').map(({ key_id: id, charged }) => [id, charged])).toEqual([
    ['b', 0],
    ['a', 2],
  ])
  keys.clear()
  expect([keys.of('w'), keys.size]).toEqual([[], 0])
})

import { expect, it } from 'vitest'
import { Admission } from './admission.ts'

it('lets the one that waits longest in when a place is free', async () => {
  const admission = new Admission({ running: 1, waiting: 2, waitMs: 10_000 })
  const leave = await admission.enter()
  const order: string[] = []
  const wait = async (name: string): Promise<void> => {
    const leave = await admission.enter()
    order.push(name)
    leave()
  }
  const first = wait('first')
  const second = wait('second')
  expect(admission.waiting).toBe(2)
  leave()
  leave() // leaving twice gives one place back
  await Promise.all([first, second])
  expect(order).toEqual(['first', 'second'])
  expect(admission.running).toBe(0)
})

it('refuses with 202 when too many wait, and when one waited too long', async () => {
  const admission = new Admission({ running: 1, waiting: 1, waitMs: 1 })
  await admission.enter()
  const waits = admission.enter()
  await expect(admission.enter()).rejects.toMatchObject({ code: 202, status: 503 })
  await expect(waits).rejects.toMatchObject({ code: 202 })
  expect(admission.waiting).toBe(0)
})

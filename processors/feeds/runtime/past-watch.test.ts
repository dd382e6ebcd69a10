import { expect, it, vi } from 'vitest'
import type { Logger } from '../../../infra/log.ts'
import { PastWatch } from './past-watch.ts'

const NOW = Date.UTC(2026, 10, 23)
const days = { hours: 90, minutes: 1, archives: 0 }

function watched() {
  const info = vi.fn<(about: unknown, what?: string) => void>()
  const error = vi.fn<(about: unknown, what?: string) => void>()
  const log: Pick<Logger, 'info' | 'error'> = { info, error }
  return { watch: new PastWatch(log as Logger, days), info, error }
}

it('says how much disk it will take before it begins, and until when the slowest venue has all', () => {
  const { watch, info } = watched()
  const at = (second: number, fast: number, slow: number): void =>
    watch.look(
      [
        { wanted: 10_000, missing: fast },
        { wanted: 10_000, missing: slow },
      ],
      NOW + second * 1_000,
    )
  at(0, 10_000, 10_000)
  expect(info).toHaveBeenCalledWith(
    expect.objectContaining({ rows: 20_000, megabytes: 3 }),
    expect.stringContaining('reading the past back'),
  )
  expect(watch.health).toMatchObject({ state: 'running', missing: 20_000, bytes_left: 2_260_000, seconds_left: null })
  at(10, 0, 9_000)
  // The slow one has a hundred a second.
  expect(watch.health).toMatchObject({ state: 'running', missing: 9_000, seconds_left: 90 })
  at(30, 0, 8_000)
  at(41, 0, 2_400)
  // The pace is that of the last half minute.
  expect(watch.health.seconds_left).toBe(Math.ceil((2_400 * 11) / 5_600))
  at(50, 0, 0)
  expect(watch.health).toMatchObject({ state: 'done', missing: 0, bytes_left: 0, seconds_left: 0 })
  expect(info).toHaveBeenLastCalledWith({ rows: 20_000, seconds: 50 }, 'the past is read back')
})

it('has no time left to tell of a venue that brings nothing', () => {
  const { watch } = watched()
  watch.look([{ wanted: 1_000, missing: 1_000 }], NOW)
  watch.look([{ wanted: 1_000, missing: 1_000 }], NOW + 5_000)
  expect(watch.health.seconds_left).toBeNull()
})

it('pauses where the disk has no room for it, says how to mend it once, and goes on when there is room', () => {
  const { watch, info, error } = watched()
  const look = (second: number, free: number): string => {
    watch.look([{ wanted: 1_000_000, missing: 1_000_000 }], NOW + second * 1_000, free)
    return watch.health.state
  }
  expect([look(0, 2e9), look(1, 1.1e9), look(2, 1.1e9), look(3, 1.2e9)]).toEqual([
    'running',
    'paused',
    'paused',
    'running',
  ])
  expect(error).toHaveBeenCalledExactlyOnceWith(
    { megabytes: { left: 113, free: 1_100, kept: 1_000 }, mend: expect.stringContaining('free some room') as string },
    expect.stringContaining('too little room'),
  )
  expect(info).toHaveBeenLastCalledWith(expect.anything(), expect.stringContaining('has room'))
})

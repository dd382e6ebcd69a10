import { describe, expect, it } from 'vitest'
import { partsOf, roleNames } from './role.ts'

describe.each(roleNames)('the image of %s', (role) => {
  it('holds no test, no simulator and no part of one machine', () => {
    const { files } = partsOf(role)
    expect(files.filter((file) => /\.test\.|\/testing\/|\/test-|infra\/(?:local|simulator)\//.test(file))).toEqual([])
  })
})

it('each holds only packages of its own', () => {
  const names = (role: (typeof roleNames)[number]): string[] => partsOf(role).packages.map(({ name }) => name)
  expect(names('processors').filter((name) => ['viem', 'koa', 'chdb', 'nodemailer', 'ws'].includes(name))).toEqual([])
  expect(names('feeds')).toContain('ws')
  expect(names('webhooks')).toContain('nodemailer')
})

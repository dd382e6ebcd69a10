import { describe, expect, it } from 'vitest'
import { isKnown, isSession, isToken, SESSION_SECONDS, sessionCookie, sessionIn, sessionOf } from './session.ts'

const token = 'a-token-of-24-characters'
const NOW = 1_767_323_045_000

describe('a login', () => {
  it('lasts twelve hours and no longer', () => {
    const session = sessionOf(token, NOW)
    expect(isSession(token, session, NOW)).toBe(true)
    expect(isSession(token, session, NOW + SESSION_SECONDS * 1000 - 1000)).toBe(true)
    expect(isSession(token, session, NOW + SESSION_SECONDS * 1000)).toBe(false)
  })

  it('cannot be made longer, nor by another token', () => {
    const [, seal = ''] = sessionOf(token, NOW).split('.')
    expect(isSession(token, `99999999999.${seal}`, NOW)).toBe(false)
    expect(isSession(token, sessionOf('another-token-of-24-chars', NOW), NOW)).toBe(false)
    expect(isSession(token, '', NOW)).toBe(false)
  })

  it('does not hold the token, and no script can read it', () => {
    const cookie = sessionCookie(sessionOf(token, NOW), true)
    expect(cookie).not.toContain(token)
    expect(cookie).toMatch(/; HttpOnly; SameSite=Strict; Secure$/)
    expect(sessionIn(`other=1; ${cookie.split(';')[0] ?? ''}`)).toBe(sessionOf(token, NOW))
    expect(sessionCookie('', false)).toContain('Max-Age=0')
  })

  it('is proven by a bearer header or a session, and a wrong bearer is not mended by a session', () => {
    const cookie = `console_session=${sessionOf(token, NOW)}`
    expect(isKnown(token, { authorization: `Bearer ${token}`, cookie: '' }, NOW)).toBe(true)
    expect(isKnown(token, { authorization: '', cookie }, NOW)).toBe(true)
    expect(isKnown(token, { authorization: 'Bearer nonsense', cookie }, NOW)).toBe(false)
    expect(isKnown(token, { authorization: '', cookie: '' }, NOW)).toBe(false)
    expect([isToken(token, token), isToken(token, ''), isToken(token, `${token}x`)]).toEqual([true, false, false])
  })
})

import { createHash, createHmac, timingSafeEqual } from 'node:crypto'

/** How long a login lasts, seconds. */
export const SESSION_SECONDS = 12 * 3600

const NAME = 'console_session'

/** Compares in constant time, whatever the lengths. */
export function isToken(token: string, given: string): boolean {
  return timingSafeEqual(hashOf(token), hashOf(given))
}

function hashOf(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

/** What a logged-in browser keeps: until when, and a proof that we said so. The token itself is in no browser. */
export function sessionOf(token: string, nowMs: number): string {
  const until = Math.floor(nowMs / 1000) + SESSION_SECONDS
  return `${until}.${sealOf(token, until)}`
}

function sealOf(token: string, until: number): string {
  return createHmac('sha256', token).update(`console session until ${until}`).digest('base64url')
}

/** Whether `session` is one of ours and has not ended. */
export function isSession(token: string, session: string, nowMs: number): boolean {
  const [, until = '', seal = ''] = /^(\d{1,12})\.([\w-]{43})$/.exec(session) ?? []
  return until !== '' && isToken(sealOf(token, Number(until)), seal) && Number(until) > nowMs / 1000
}

/** The session in a Cookie header; empty: none. */
export function sessionIn(cookies: string): string {
  const pair = cookies
    .split(';')
    .map((text) => text.trim())
    .find((text) => text.startsWith(`${NAME}=`))
  return pair?.slice(NAME.length + 1) ?? ''
}

/** Set-Cookie of a login, or of a logout where `session` is empty. */
export function sessionCookie(session: string, isSecure: boolean): string {
  const age = session === '' ? 0 : SESSION_SECONDS
  return `${NAME}=${session}; Max-Age=${age}; Path=/; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`
}

/** Whether the request proves that it knows the token: as a bearer, or by a session. */
export function isKnown(
  token: string,
  { authorization, cookie }: { authorization: string; cookie: string },
  nowMs: number,
): boolean {
  const bearer = /^Bearer +(\S+) *$/i.exec(authorization)?.[1]
  return bearer === undefined ? isSession(token, sessionIn(cookie), nowMs) : isToken(token, bearer)
}

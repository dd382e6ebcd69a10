import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'

/** What of a request decides whether it is let in. */
export interface GuardedRequest {
  readonly method?: string | undefined
  readonly headers: Pick<IncomingHttpHeaders, 'host' | 'origin' | 'sec-fetch-site' | 'sec-fetch-mode'>
}

/**
 * - `allowed`: it comes from the port's own pages, from a person's address bar, or from a program;
 * - `wrong-host`: it was sent to a name that is not ours: another site's name that was pointed here;
 * - `foreign`: another site's page sent it.
 */
export type Admission = 'allowed' | 'wrong-host' | 'foreign'

/** Names, without a port, that a port is reached by beside those of this machine itself; `any`: it is reached from elsewhere. */
export type AllowedHosts = readonly string[] | 'any'

const reading = new Set(['GET', 'HEAD'])

/**
 * Whether a web page of somebody else is behind the request, by DNS rebinding or across sites. Every port that we open
 * asks this: a browser sends what a page wants to any port of its own machine, but it says truly who asks whom.
 */
export function admissionOf({ method = 'GET', headers }: GuardedRequest, allowedHosts: AllowedHosts): Admission {
  const { host = '', origin } = headers
  const name = nameOf(host)
  if (name === '' || (allowedHosts !== 'any' && !isLoopbackName(name) && !allowedHosts.includes(name)))
    return 'wrong-host'
  if (origin !== undefined && hostOf(origin) !== host.toLowerCase()) return 'foreign'
  const site = headers['sec-fetch-site']
  const isOwn = site === undefined || site === 'same-origin' || site === 'none'
  // Following a link here shows the page to the person who follows it, and to nobody else.
  const isVisit = reading.has(method) && headers['sec-fetch-mode'] === 'navigate'
  return isOwn || isVisit ? 'allowed' : 'foreign'
}

export interface Refusal {
  readonly status: 403 | 421
  readonly error: 'foreign_page' | 'wrong_host'
  readonly message: string
}

/** How a request that is not let in is answered; `mend` says where it would be. */
export function refusalOf(admission: Exclude<Admission, 'allowed'>, mend: string): Refusal {
  if (admission === 'wrong-host')
    return { status: 421, error: 'wrong_host', message: `This port does not go by the name in Host: ${mend}` }
  return {
    status: 403,
    error: 'foreign_page',
    message:
      'A web page of another site asked for this (Origin, Sec-Fetch-Site): ask from a program, or from the page itself.',
  }
}

const HERE = 'ask http://127.0.0.1 or localhost with its port.'

/** The names of an address: loopback is asked by its own names, any other address by any. */
export function allowedHostsAt(address: string): AllowedHosts {
  return isLoopbackName(address) ? [] : 'any'
}

const noTarget = { status: 400, error: 'invalid_target', message: 'The target of the request is no URL.' } as const

/** Answers a request that is not let in, or whose target cannot be read, as that of `GET http://[`; false: it is let in. */
export function refuses(request: IncomingMessage, response: ServerResponse, allowedHosts: AllowedHosts): boolean {
  const admission = admissionOf(request, allowedHosts)
  const isTarget = URL.canParse(request.url ?? '/', 'http://localhost')
  if (admission === 'allowed' && isTarget) return false
  const { status, error, message } = admission === 'allowed' ? noTarget : refusalOf(admission, HERE)
  // What is left of its body is not waited for.
  response.writeHead(status, { 'content-type': 'application/json', connection: 'close' })
  response.end(`${JSON.stringify({ error, message })}\n`)
  return true
}

/** Addresses and names that never leave the machine. */
export function isLoopbackName(name: string): boolean {
  return name === 'localhost' || name === '[::1]' || name === '::1' || /^127(?:\.\d{1,3}){3}$/.test(name)
}

/** The name in `name:port`, in lower case; brackets of IPv6 stay. */
export function nameOf(host: string): string {
  return host.toLowerCase().replace(/:\d{1,5}$/, '')
}

/** host:port of an origin; empty where it is none (`null` of a sandboxed page). */
function hostOf(origin: string): string {
  return URL.canParse(origin) ? new URL(origin).host : ''
}

/** What of a request decides whether it is let in. Header names in lower case; several values are one text. */
export interface Asking {
  readonly method: string
  readonly headers: Readonly<Partial<Record<'host' | 'origin' | 'sec-fetch-site' | 'sec-fetch-mode', string>>>
}

/**
 * - `allowed`: it comes from this console's own pages, from a person's address bar, or from a program;
 * - `wrong-host`: it was sent to a name that is not this machine's: another site's name that was pointed here;
 * - `foreign`: another site's page sent it.
 */
export type Admission = 'allowed' | 'wrong-host' | 'foreign'

export interface Door {
  /** Without a token only a name of this machine itself is answered. */
  readonly loopbackOnly: boolean
}

const reading = new Set(['GET', 'HEAD'])

/** Whether a web page of somebody else is behind the request, by DNS rebinding or across sites. */
export function admissionOf({ method, headers }: Asking, { loopbackOnly }: Door): Admission {
  const host = headers.host ?? ''
  if (host === '' || (loopbackOnly && !isLoopbackName(nameOf(host)))) return 'wrong-host'
  const { origin } = headers
  if (origin !== undefined && hostOf(origin) !== host.toLowerCase()) return 'foreign'
  const site = headers['sec-fetch-site']
  const isOwn = site === undefined || site === 'same-origin' || site === 'none'
  // Following a link here shows the page to the person who follows it, and to nobody else.
  const isVisit = reading.has(method) && headers['sec-fetch-mode'] === 'navigate'
  return isOwn || isVisit ? 'allowed' : 'foreign'
}

/** Addresses and names that never leave the machine. */
export function isLoopbackName(name: string): boolean {
  return name === 'localhost' || name === '[::1]' || name === '::1' || /^127(?:\.\d{1,3}){3}$/.test(name)
}

/** The name in `name:port`, in lower case; brackets of IPv6 stay. */
function nameOf(host: string): string {
  return host.toLowerCase().replace(/:\d{1,5}$/, '')
}

/** host:port of an origin; empty where it is none (`null` of a sandboxed page). */
function hostOf(origin: string): string {
  return URL.canParse(origin) ? new URL(origin).host : ''
}

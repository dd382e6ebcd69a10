import { Resolver } from 'node:dns/promises'

/** The addresses of a name, IPv4 first; none: there is no such name. Rejects where no name server answers. */
export type Resolve = (hostname: string) => Promise<readonly string[]>

const QUERY_MS = 1_500
const TRIES = 2

/**
 * Asks the machine's name servers. Not through `getaddrinfo`, whose few threads one name that hangs would block for all
 * receivers; so the hosts file has no say. `localhost` is this machine (RFC 6761).
 */
export function systemResolver(): Resolve {
  const resolver = new Resolver({ timeout: QUERY_MS, tries: TRIES })
  return async (hostname) => {
    const name = hostname.replace(/\.$/, '')
    if (/(?:^|\.)localhost$/.test(name)) return ['127.0.0.1', '::1']
    const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)])
    const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
    const failure = answers.find((answer) => answer.status === 'rejected' && !isAbsence(answer.reason))
    if (addresses.length === 0 && failure?.status === 'rejected') throw failure.reason
    return addresses
  }
}

function isAbsence(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException
  return code === 'ENODATA' || code === 'ENOTFOUND'
}

import { BlockList, isIP } from 'node:net' // rule: purity - compares addresses, opens nothing

/**
 * Addresses that no webhook may reach: IANA's special-purpose registries of IPv4 and IPv6. A tunnelled or translated
 * IPv4 address (NAT64, 6to4, Teredo) could lead to a private one, so those prefixes are among them.
 */
const specialIpv4 = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.31.196.0', 24],
  ['192.52.193.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['192.175.48.0', 24],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
] as const

/** Outside of 2000::/3 nothing is public; inside of it these are not. */
const specialIpv6 = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['2620:4f:8000::', 48],
  ['3fff::', 20],
] as const

const special = new BlockList()
for (const [network, bits] of specialIpv4) special.addSubnet(network, bits, 'ipv4')
for (const [network, bits] of specialIpv6) special.addSubnet(network, bits, 'ipv6')
const global = new BlockList()
global.addSubnet('2000::', 3, 'ipv6')

/** Whether an address, as a resolver gives it, is one of the public internet. False for what is no address. */
export function isPublicAddress(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !special.check(address, 'ipv4')
    case 6:
      return global.check(address, 'ipv6') && !special.check(address, 'ipv6')
    default:
      return false
  }
}

/** Why a webhook URL is refused at creation. */
export type BadUrl = 'not-a-url' | 'not-https' | 'credentials' | 'private-address' | 'too-long' | 'no-port'

const URL_LENGTH_MAX = 2_048

/**
 * Reads the URL of a webhook. Names are resolved and checked at each delivery; here a literal address is, in whatever
 * way it is written (`0x7f.1`, `2130706433` and `[::ffff:10.0.0.1]` are what the URL standard makes of them).
 */
export function readWebhookUrl(text: string, allowPrivate: boolean): { url: URL } | { refused: BadUrl } {
  if (text.length > URL_LENGTH_MAX) return { refused: 'too-long' }
  if (!URL.canParse(text)) return { refused: 'not-a-url' }
  const url = new URL(text)
  if (url.protocol !== 'https:') return { refused: 'not-https' }
  if (url.username !== '' || url.password !== '') return { refused: 'credentials' }
  if (url.port === '0') return { refused: 'no-port' }
  if (!allowPrivate && isPrivateHost(url.hostname)) return { refused: 'private-address' }
  return { url }
}

/** Names that never leave the machine or its network, and literal addresses that are not public. */
function isPrivateHost(hostname: string): boolean {
  const literal = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname
  if (isIP(literal) !== 0) return !isPublicAddress(literal)
  const name = hostname.replace(/\.$/, '')
  return name === 'localhost' || /\.(?:localhost|local|internal|home\.arpa)$/.test(name) || !name.includes('.')
}

/** Host and port of a webhook URL: what limits, partitions and logs know a receiver by. */
export function receiverOf(url: URL): string {
  return `${url.hostname}:${url.port === '' ? '443' : url.port}`
}

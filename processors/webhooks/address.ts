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
const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8, 'ipv4')
loopback.addAddress('::1', 'ipv6')

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

/** Where webhooks may go: the public internet; in a demo this machine as well; for development anywhere. */
export type Reach = 'public' | 'loopback' | 'any'

export function reachOf({ mode, allowPrivate }: { mode: string; allowPrivate: boolean }): Reach {
  return allowPrivate ? 'any' : mode === 'demo' ? 'loopback' : 'public'
}

/** Whether a webhook may go to an address. False for what is no address. */
export function mayReach(address: string, reach: Reach): boolean {
  if (isPublicAddress(address)) return true
  const version = isIP(address)
  if (version === 0 || reach === 'public') return false
  return reach === 'any' || loopback.check(address, version === 4 ? 'ipv4' : 'ipv6')
}

/** Why a webhook URL is refused at creation. */
export type BadUrl = 'not-a-url' | 'not-https' | 'credentials' | 'private-address' | 'too-long' | 'no-port'

const URL_LENGTH_MAX = 2_048

/** Slack, Discord, Telegram, Google Chat and Microsoft Teams: their addresses take messages of their own form, and nothing else. */
const chatServices =
  /^(?:hooks\.slack(?:-gov)?\.com|(?:\w+\.)?discord(?:app)?\.com|api\.telegram\.org|chat\.googleapis\.com|(?:[\w-]+\.)*webhook\.office\.com|outlook\.office(?:365)?\.com)$/

/**
 * Reads the URL of a webhook. Names are resolved and checked at each delivery; here a literal address is, in whatever
 * way it is written (`0x7f.1`, `2130706433` and `[::ffff:10.0.0.1]` are what the URL standard makes of them).
 */
export function readWebhookUrl(text: string, reach: Reach): { url: URL } | { refused: BadUrl } {
  if (text.length > URL_LENGTH_MAX) return { refused: 'too-long' }
  if (!URL.canParse(text)) return { refused: 'not-a-url' }
  const url = new URL(text)
  if (url.protocol !== 'https:') return { refused: 'not-https' }
  if (url.username !== '' || url.password !== '') return { refused: 'credentials' }
  if (url.port === '0') return { refused: 'no-port' }
  if (!mayReachHost(url.hostname, reach)) return { refused: 'private-address' }
  return { url }
}

/** Whether an address takes messages of a chat service's own form, so that the signed event would be refused there. */
export function isChatService({ hostname }: URL): boolean {
  return chatServices.test(hostname.replace(/\.$/, ''))
}

/** A literal address is checked as it is; a name that never leaves the machine or its network is as private as one. */
function mayReachHost(hostname: string, reach: Reach): boolean {
  const literal = hostOf(hostname)
  if (isIP(literal) !== 0) return mayReach(literal, reach)
  const name = hostname.replace(/\.$/, '')
  if (/(?:^|\.)localhost$/.test(name)) return reach !== 'public'
  return reach === 'any' || (name.includes('.') && !/\.(?:local|internal|home\.arpa)$/.test(name))
}

/** The host of a URL as a resolver or a socket wants it: IPv6 without its brackets. */
export function hostOf(hostname: string): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname
}

/** Host and port of a webhook URL: what limits, partitions and logs know a receiver by. */
export function receiverOf(url: URL): string {
  return `${url.hostname}:${url.port === '' ? '443' : url.port}`
}

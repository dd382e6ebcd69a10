import { describe, expect, it } from 'vitest'
import { isChatService, isPublicAddress, mayReach, reachOf, readWebhookUrl, receiverOf } from './address.ts'

describe('a public address', () => {
  it.each([
    ['1.1.1.1'],
    ['93.184.215.14'],
    ['100.63.255.255'],
    ['172.15.255.255'],
    ['172.32.0.0'],
    ['2606:4700:4700::1111'],
    ['2a00:1450:4001:80e::200e'],
  ])('is %s', (address) => {
    expect(isPublicAddress(address)).toBe(true)
  })

  it.each([
    ['0.0.0.0'],
    ['10.255.255.255'],
    ['100.64.0.1'],
    ['127.0.0.1'],
    ['127.255.255.254'],
    ['169.254.169.254'],
    ['172.16.0.1'],
    ['172.31.255.255'],
    ['192.0.0.8'],
    ['192.0.2.1'],
    ['192.31.196.1'],
    ['192.52.193.1'],
    ['192.88.99.1'],
    ['192.168.1.1'],
    ['192.175.48.1'],
    ['198.18.0.1'],
    ['198.19.255.255'],
    ['198.51.100.1'],
    ['203.0.113.9'],
    ['224.0.0.1'],
    ['240.0.0.1'],
    ['255.255.255.255'],
    ['::'],
    ['::1'],
    ['::ffff:10.0.0.1'],
    ['::ffff:93.184.215.14'],
    ['::a00:1'],
    ['64:ff9b::10.0.0.1'],
    ['2002:7f00:1::'],
    ['2001:0:4136:e378:8000:63bf:3fff:fdd2'],
    ['2001:db8::1'],
    ['2620:4f:8000::1'],
    ['3fff::1'],
    ['fc00::1'],
    ['fd12:3456::1'],
    ['fe80::1'],
    ['fec0::1'],
    ['ff02::1'],
    ['localhost'],
    [''],
  ])('is not %s', (address) => {
    expect(isPublicAddress(address)).toBe(false)
  })
})

describe('a webhook URL', () => {
  it.each([
    ['https://example.com/hook?a=1'],
    ['https://example.com:8443/'],
    ['https://1.1.1.1/'],
    ['https://[2606:4700::1111]/'],
  ])('may be %s', (text) => {
    expect(readWebhookUrl(text, 'public')).toEqual({ url: new URL(text) })
  })

  it.each([
    ['example.com/hook', 'not-a-url'],
    ['', 'not-a-url'],
    ['http://example.com/', 'not-https'],
    ['ftp://example.com/', 'not-https'],
    ['https://user:secret@example.com/', 'credentials'],
    ['https://user@example.com/', 'credentials'],
    ['https://:secret@example.com/', 'credentials'],
    ['https://example.com:0/', 'no-port'],
    [`https://example.com/${'x'.repeat(2_048)}`, 'too-long'],
    ['https://127.0.0.1/', 'private-address'],
    ['https://2130706433/', 'private-address'],
    ['https://0177.0.0.1/', 'private-address'],
    ['https://0x7f.1/', 'private-address'],
    ['https://[::1]/', 'private-address'],
    ['https://[::ffff:10.0.0.1]/', 'private-address'],
    ['https://169.254.169.254/latest/meta-data', 'private-address'],
    ['https://localhost/', 'private-address'],
    ['https://localhost./', 'private-address'],
    ['https://db.internal/', 'private-address'],
    ['https://intranet/', 'private-address'],
  ])('may not be %s: %s', (text, refused) => {
    expect(readWebhookUrl(text, 'public')).toEqual({ refused })
  })

  it.each([
    ['https://127.0.0.1:8443/hook', 'loopback'],
    ['https://[::1]:8443/hook', 'loopback'],
    ['https://localhost:8443/hook', 'loopback'],
    ['https://10.0.0.1/', 'any'],
    ['https://intranet/', 'any'],
  ] as const)('may be %s where it may reach %s', (text, reach) => {
    expect(readWebhookUrl(text, reach)).toEqual({ url: new URL(text) })
  })

  it.each([['https://10.0.0.1/'], ['https://[fe80::1]/'], ['https://db.internal/'], ['https://intranet/']])(
    'may not be %s in a demo',
    (text) => {
      expect(readWebhookUrl(text, 'loopback')).toEqual({ refused: 'private-address' })
    },
  )
})

it.each([
  ['https://hooks.slack.com/services/T0/B0/x'],
  ['https://hooks.slack.com./services/T0/B0/x'],
  ['https://discord.com/api/webhooks/1/x'],
  ['https://ptb.discord.com/api/webhooks/1/x'],
  ['https://DISCORDAPP.com/api/webhooks/1/x'],
  ['https://api.telegram.org/bot1:x/sendMessage?chat_id=1'],
  ['https://chat.googleapis.com/v1/spaces/x/messages?key=x'],
  ['https://example.webhook.office.com/webhookb2/x'],
  ['https://outlook.office.com/webhook/x'],
])('knows that a chat service is at %s', (text) => {
  expect(isChatService(new URL(text))).toBe(true)
  expect(isChatService(new URL('https://hooks.slack.com.example.com/'))).toBe(false)
})

describe('the reach of webhooks', () => {
  it.each([
    ['live', false, 'public'],
    ['tape', false, 'public'],
    ['demo', false, 'loopback'],
    ['live', true, 'any'],
  ] as const)('in mode %s with private addresses %s is %s', (mode, allowPrivate, reach) => {
    expect(reachOf({ mode, allowPrivate })).toBe(reach)
  })

  it.each([
    ['1.1.1.1', [true, true, true]],
    ['127.0.0.1', [false, true, true]],
    ['::1', [false, true, true]],
    ['10.0.0.1', [false, false, true]],
    ['169.254.169.254', [false, false, true]],
    ['::ffff:10.0.0.1', [false, false, true]],
    ['localhost', [false, false, false]],
  ] as const)('has %s: public, loopback, any = %s', (address, allowed) => {
    expect((['public', 'loopback', 'any'] as const).map((reach) => mayReach(address, reach))).toEqual(allowed)
  })
})

it('knows a receiver by host and port', () => {
  expect(receiverOf(new URL('https://example.com/a'))).toBe('example.com:443')
  expect(receiverOf(new URL('https://[2606:4700::1111]:8443/a'))).toBe('[2606:4700::1111]:8443')
})

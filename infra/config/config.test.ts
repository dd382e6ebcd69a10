import { describe, expect, it, vi } from 'vitest'
import { ConfigError, readConfig, settingsHelp } from './config.ts'
import { settings, type SettingName } from './settings.ts'

describe('configuration', () => {
  it('reads each kind as its type', () => {
    const env = {
      KAFKA_BROKERS: 'a:1, b:2',
      API_PORT: '8080',
      RATE_LIMIT_PER_SECOND: '2.5',
      TRUST_PROXY: '1',
      CLICKHOUSE_URL: 'http://host:8123/',
      MODE: 'live',
    }
    const names = [
      'KAFKA_BROKERS',
      'API_PORT',
      'RATE_LIMIT_PER_SECOND',
      'TRUST_PROXY',
      'CLICKHOUSE_URL',
      'MODE',
    ] as const
    expect(readConfig(env, names)).toEqual({
      KAFKA_BROKERS: ['a:1', 'b:2'],
      API_PORT: 8080,
      RATE_LIMIT_PER_SECOND: 2.5,
      TRUST_PROXY: true,
      CLICKHOUSE_URL: 'http://host:8123',
      MODE: 'live',
    })
  })

  it.each([
    ['API_PORT', '-1', 'API_PORT must be a whole number from 0 to 65535, got "-1"; for example API_PORT=3000'],
    ['OPS_PORT', '65536', 'OPS_PORT must be a whole number from 0 to 65535, got "65536"; for example OPS_PORT=9100'],
    ['PARTITIONS', '0', 'PARTITIONS must be a whole number from 1 to 1000, got "0"; for example PARTITIONS=12'],
    ['REPLICATION_FACTOR', '0', 'REPLICATION_FACTOR must be a whole number of 1 or more, got "0"; for example'],
    ['LISTINGS_SECONDS', '0.5', 'LISTINGS_SECONDS must be a number from 1 to 604800, got "0.5"; for example'],
    ['BACKFILL_DAYS', '9'.repeat(400), 'BACKFILL_DAYS must be a whole number of 0 or more, got "9'],
    ['MODE', 'prod', 'MODE must be one of demo, live, tape, got "prod"; for example MODE=live'],
    ['CLICKHOUSE_URL', 'host', 'CLICKHOUSE_URL must be an absolute URL, got "host"; for example'],
    ['VENUES', 'okx, binnance', 'VENUES must be a list of binance, bybit, okx,'],
    ['TRUST_PROXY', 'yes', 'TRUST_PROXY must be 0 or 1, got "yes"'],
    [
      'CONSOLE_TOKEN',
      'x'.repeat(23),
      'CONSOLE_TOKEN must be a text of 24 characters or more, got a text that is not shown',
    ],
    [
      'CLICKHOUSE_PASSWORD',
      'market7',
      'CLICKHOUSE_PASSWORD must be a text of 8 characters or more, got a text that is',
    ],
    ['CLICKHOUSE_ANALYST_PASSWORD', 'market7', 'CLICKHOUSE_ANALYST_PASSWORD must be a text of 8 characters or more'],
    [
      'SERVICE_SECRETS_READ',
      'x'.repeat(40),
      'SERVICE_SECRETS_READ must be a comma-separated list of version:secret, of 32 ',
    ],
    [
      'SERVICE_SECRETS_READ',
      `1:${'x'.repeat(31)}`,
      'SERVICE_SECRETS_READ must be a comma-separated list of version:secret',
    ],
  ] as const)('says what is wrong with %s=%s and gives an example', (name, text, message) => {
    expect(() => readConfig({ [name]: text }, [name])).toThrow(message)
  })

  it('reads a setting under its former name with a warning, and goes by the new one where both are given', () => {
    const warn = vi.spyOn(process, 'emitWarning').mockReturnValue()
    const read = (env: Record<string, string>) => readConfig(env, ['SERVICE_SECRETS_READ']).SERVICE_SECRETS_READ
    const [former, own] = [`1:${'a'.repeat(32)}`, `1:${'b'.repeat(32)}`]
    expect(read({ SERVICE_SECRETS_OLD: former })).toEqual([former])
    expect(warn.mock.calls).toEqual([
      [expect.stringMatching(/^SERVICE_SECRETS_OLD is called SERVICE_SECRETS_READ now/)],
    ])
    expect(read({ SERVICE_SECRETS_OLD: former, SERVICE_SECRETS_READ: own })).toEqual([own])
    expect(warn).toHaveBeenCalledTimes(1)
    warn.mockRestore()
  })

  it('lists every setting at fault at once', () => {
    const bad = { API_PORT: 'x', PARTITIONS: 'y' }
    expect(() => readConfig(bad, ['API_PORT', 'PARTITIONS'])).toThrow(/API_PORT[^]*PARTITIONS/)
    expect(() => readConfig(bad, ['API_PORT'])).toThrow(ConfigError)
  })

  it.each((Object.keys(settings) as SettingName[]).filter((name) => name.endsWith('_PORT')))(
    'takes no %s beyond 65535',
    (name) => {
      expect(readConfig({ [name]: '65535' }, [name])).toEqual({ [name]: 65_535 })
      expect(() => readConfig({ [name]: '65536' }, [name])).toThrow(ConfigError)
    },
  )

  it.each(Object.keys(settings) as SettingName[])('has a default and an example that fit for %s', (name) => {
    expect(() => readConfig({}, [name])).not.toThrow()
    expect(() => readConfig({ [name]: settings[name].example }, [name])).not.toThrow()
    expect(settingsHelp([name])).toContain(settings[name].description)
  })
})

import { describe, expect, it } from 'vitest'
import { authenticate, checkReaderText, reachingCalls, readerLimits, readerSettings, type User } from './users.ts'

const users: User[] = [
  { name: 'default', password: 'own' },
  { name: 'analyst', password: 'secret' },
]
const url = (text = ''): URLSearchParams => new URLSearchParams(text)
const basic = (text: string): { authorization: string } => ({
  authorization: `Basic ${Buffer.from(text).toString('base64')}`,
})

describe('authenticate', () => {
  it('takes the user from Basic, from headers, from the URL, or is default', () => {
    expect(authenticate(users, {}, url('password=own')).name).toBe('default')
    expect(authenticate(users, basic('analyst:secret'), url()).name).toBe('analyst')
    expect(authenticate(users, { 'x-clickhouse-user': 'analyst', 'x-clickhouse-key': 'secret' }, url()).name).toBe(
      'analyst',
    )
    expect(authenticate(users, {}, url('user=analyst&password=secret')).name).toBe('analyst')
  })

  it('asks for no password, and takes any, where the user has none', () => {
    const open: User[] = [{ name: 'analyst', password: '' }]
    expect(authenticate(open, {}, url('user=analyst')).name).toBe('analyst')
    expect(authenticate(open, basic('analyst:analyst'), url()).name).toBe('analyst')
  })

  it.each([{}, basic('analyst:wrong'), basic('nobody:'), { 'x-clickhouse-user': 'analyst' }])(
    'refuses %o with 516',
    (headers) => {
      expect(() => authenticate(users, headers, url())).toThrow(expect.objectContaining({ code: 516, status: 403 }))
    },
  )
})

/** As an engine lists them. */
const reaching = reachingCalls(['url', 'remote', 's3Cluster', 'merge', 'input', 'numbers', 'format', 'notYetKnown'])

describe('checkReaderText', () => {
  it.each([
    "select file('/etc/passwd')",
    "select `file`('/etc/passwd')",
    'select * apply(file) from t',
    'select * apply file from t',
    "select FILE /* x */ ('a')",
    "select * from eval('sel' || 'ect 1')",
    "select * from url('http://x')",
    "select * from remote ('127.0.0.1', system.one)",
    "select * from s3Cluster('x')",
    "select aiGenerate('x')",
    "select * from notYetKnown('x')",
    "select * from url/* x */('http://x')",
    "select * from `merge`('system', '^proc')",
    'select query from system.processes',
    'show processlist',
    "select `fi\\x6ce`('/etc/passwd')",
    "select “fi\\x6ce”('/etc/passwd')",
    "select $$ ' $$, file('/etc/passwd')",
  ])('refuses %s with 164', (sql) => {
    expect(() => checkReaderText(sql, reaching)).toThrow(expect.objectContaining({ code: 164 }))
  })

  it.each([
    'select * from trades where asset = {asset:String}',
    'select profile, files, filename from t',
    "select match(symbol, '^BTC\\\\d+$') from trades",
    'select "time", `from` from signals',
    'select input, url from t',
    "select format('{}', a), number from numbers(3)",
    'select countMerge(a) from t',
    'select max(time) from flow_10s group by venue',
  ])('lets %s pass', (sql) => {
    expect(() => checkReaderText(sql, reaching)).not.toThrow()
  })
})

describe('readerSettings', () => {
  it('sets every limit and takes smaller wishes only', () => {
    const settings = readerSettings(
      new Map([
        ['max_threads', '1'],
        ['max_execution_time', '0'],
        ['max_memory_usage', '9e99'],
      ]),
    )
    expect(settings.get('max_threads')).toBe('1')
    expect(settings.get('max_execution_time')).toBe(String(readerLimits['max_execution_time']))
    expect(settings.get('max_memory_usage')).toBe(String(readerLimits['max_memory_usage']))
    expect(settings.get('result_overflow_mode')).toBe('throw')
  })

  it('drops readonly and keeps parameters', () => {
    const settings = readerSettings(
      new Map([
        ['readonly', '0'],
        ['param_asset', 'btc'],
      ]),
    )
    expect(settings.has('readonly')).toBe(false)
    expect(settings.get('param_asset')).toBe('btc')
  })

  it.each([
    'format_template_row',
    'format_schema',
    'output_format_schema',
    'profile',
    'max_untracked_memory',
    'allow_ddl',
  ])('refuses %s, with which files or limits could be reached', (name) => {
    expect(() => readerSettings(new Map([[name, '1']]))).toThrow(expect.objectContaining({ code: 164 }))
  })
})

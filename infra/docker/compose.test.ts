import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs'
import { matchesGlob, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { readConfig } from '../config/config.ts'
import { settings, type SettingName } from '../config/settings.ts'
import { partsOf, roleNames } from './role.ts'
import { secrets } from './testing/secrets.ts'

/** What a server's container engine reads; none is at hand here, so everything is checked that can be without one. */
interface Service {
  readonly image: string
  readonly restart?: string
  readonly build?: { readonly dockerfile: string; readonly args: { readonly ROLE: string } }
  /** Without a value: what `.env` or the surroundings say, else nothing. */
  readonly environment?: Readonly<Record<string, string | null>>
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>
  readonly healthcheck?: { readonly test: readonly string[] }
  readonly volumes?: readonly string[]
  readonly ports?: readonly string[]
  readonly read_only?: boolean
  readonly cap_drop?: readonly string[]
  readonly security_opt?: readonly string[]
}

interface Compose {
  readonly services: Readonly<Record<string, Service>>
  readonly volumes: Readonly<Record<string, null>>
}

const root = new URL('../../', import.meta.url)
const read = (file: string): string => readFileSync(new URL(file, root), 'utf8')
const compose = parse(read('docker-compose.yml'), { merge: true }) as Compose
const services = Object.entries(compose.services)
const ours = services.filter(([, service]) => service.build !== undefined)
const dockerfile = read('infra/docker/Dockerfile')

const copied = [...dockerfile.matchAll(/^COPY (?!--)(.+) \S+$/gm)].flatMap(([, files = '']) => files.split(' '))
const ignored = read('.dockerignore').split('\n').filter(Boolean)
const isIgnored = (file: string): boolean =>
  ignored.some((glob) => file === glob || matchesGlob(file, glob) || matchesGlob(file, `${glob}/**`))
const filesIn = (folder: string): string[] =>
  readdirSync(new URL(folder, root), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => posix.relative(fileURLToPath(root), posix.join(entry.parentPath, entry.name)))

/** As the container engine fills in what the surroundings may say, where they say nothing but what is required. */
const unset = /\$\{\w+:-([^${}]*)\}/g
/** A default may name another variable. */
const filledIn = (value: string | null): string | undefined => value?.replaceAll(unset, '$1').replaceAll(unset, '$1')

const isSecret = (name: string): boolean => 'secret' in settings[name as SettingName]
/** What the file itself says, or what only a part of one machine or a program beside the services reads. */
const notGiven =
  /^(?:MODE|KAFKA_BROKERS|REPLICATION_FACTOR|SCHEMA_REGISTRY_URL|CLICKHOUSE_(?!FLUSH|REBUILD)\w+|(?:OPS|API|CONSOLE)_(?:HOST|PORT)|API_SERVICES|(?:FRAMES|ARCHIVE|DATA)_DIR|\w+_FILE|SIMULATOR_\w+|CHAIN_BLOCK_SECONDS|BROKER_FORGETS_SECONDS|MDA_CACHE|JAVA_HOME)$/

describe('docker-compose.yml', () => {
  it('runs every part of the system', () => {
    expect(Object.keys(compose.services)).toEqual([
      'kafka',
      'registry',
      'clickhouse',
      'prepare',
      'processors',
      'feeds',
      'webhooks',
      'payments',
      'api',
      'console',
      'prometheus',
      'grafana',
    ])
  })

  it.each(ours)('starts %s from the image of its role', (name, { image, build }) => {
    expect([image, build?.args.ROLE]).toEqual([`market-data-alerts-${name}`, name])
    expect(existsSync(new URL(build?.dockerfile ?? '', root))).toBe(true)
  })

  it('has an image for every role', () => {
    expect(ours.map(([name]) => name).toSorted()).toEqual(roleNames.toSorted())
  })

  it.each(ours)('gives %s only settings that exist, with values that can be read', (_name, { environment = {} }) => {
    const names = Object.keys(environment)
    expect(names.filter((name) => !(name in settings))).toEqual([])
    const values = Object.fromEntries(Object.entries(environment).map(([name, value]) => [name, filledIn(value)]))
    expect(() => readConfig(values, names as SettingName[])).not.toThrow()
  })

  it.each(ours)('passes every setting of .env on to %s, but for secrets', (name, { environment = {} }) => {
    // The console is not behind the API's proxy.
    const given = (Object.keys(settings) as SettingName[]).filter(
      (setting) => !isSecret(setting) && !notGiven.test(setting) && (setting !== 'TRUST_PROXY' || name === 'api'),
    )
    expect(given).toEqual(expect.arrayContaining(['VENUES', 'RETENTION_BYTES', 'FREE_REQUESTS_PER_DAY', 'PAYMENTS']))
    const isPassedOn = (setting: string): boolean => {
      const value = environment[setting]
      return value === null || value?.startsWith(`\${${setting}:-`) === true
    }
    expect(given.filter((setting) => !isPassedOn(setting))).toEqual([])
  })

  it('says live to every service of ours', () => {
    expect(ours.map(([, { environment }]) => environment?.['MODE'])).toEqual(ours.map(() => 'live'))
  })

  it.each(secrets)('gives %s to the services that need it, and to no other', (secret, roles) => {
    const given = ours.filter(([, { environment }]) => environment?.[secret] !== undefined)
    expect(new Set(given.map(([name]) => name))).toEqual(new Set(roles))
  })

  it('demands the secrets that nothing runs without', () => {
    for (const secret of ['SERVICE_SECRET', 'CLICKHOUSE_PASSWORD', 'CONSOLE_TOKEN'])
      expect(read('docker-compose.yml')).not.toMatch(new RegExp(`^ +${secret}: (?!\\$\\{${secret}:\\?)`, 'm'))
  })

  it.each(['infra/docker/README.md', 'api/docs/guides/cluster.md'])(
    'starts as %s says, with all that it demands',
    (file) => {
      const demanded = [...read('docker-compose.yml').matchAll(/\$\{(\w+):\?/g)].map(([, name = '']) => name)
      const command = /^.*docker compose up -d --build$/m.exec(read(file))?.[0] ?? ''
      expect(demanded.filter((name) => !command.includes(`${name}=`))).toEqual([])
    },
  )

  it.each(ours)('lets %s write nothing but its data, without a privilege', (_name, service) => {
    expect(service).toMatchObject({ read_only: true, cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] })
    const folders = Object.entries(service.environment ?? {}).filter(([name]) => name.endsWith('_DIR'))
    expect(folders.filter(([, folder]) => folder?.startsWith('/data/') !== true)).toEqual([])
  })

  it('gives the feeds a folder in their data for all that they write', () => {
    const { environment = {} } = compose.services['feeds'] ?? {}
    expect(Object.keys(environment)).toEqual(expect.arrayContaining(['FRAMES_DIR', 'ARCHIVE_DIR']))
  })

  it('gives the wallet’s key to the service that settles alone, and the node’s address to those that take payments', () => {
    const given = (setting: string): string[] =>
      ours.filter(([, { environment = {} }]) => setting in environment).map(([name]) => name)
    expect(given('PAYMENT_WALLET_KEY')).toEqual(['payments'])
    expect(given('PAYMENT_RPC_URL')).toEqual(['payments', 'api'])
  })

  it('starts nothing of ours before the log and the tables are prepared', () => {
    const others = ours.filter(([name]) => name !== 'prepare')
    const conditions = others.map(([, { depends_on }]) => depends_on?.['prepare']?.condition)
    expect(conditions).toEqual(others.map(() => 'service_completed_successfully'))
  })

  it('tells of a preparation that is refused, in place of trying it for good', () => {
    expect(compose.services['prepare']?.restart).toBe('on-failure:5')
  })

  it('names no file that it does not mount', () => {
    const files = ours
      .flatMap(([, { environment = {} }]) => Object.keys(environment))
      .filter((name) => name.endsWith('_FILE'))
    expect(files).toEqual([])
  })

  it('waits only for services that exist, and that say how they are', () => {
    const waits = services.flatMap(([, { depends_on = {} }]) => Object.entries(depends_on))
    const wrong = waits.filter(([name, { condition }]) => {
      const other = compose.services[name]
      return other === undefined || (condition === 'service_healthy' && other.healthcheck === undefined)
    })
    expect(wrong).toEqual([])
  })

  it('checks the health of every service of ours that stays', () => {
    const staying = ours.filter(([name]) => name !== 'prepare')
    const programs = staying.map(([, { healthcheck }]) => healthcheck?.test[2] ?? '')
    expect(programs.map((file) => existsSync(new URL(file, root)))).toEqual(staying.map(() => true))
  })

  it('is waited for by the public workflow without feeds, so for none that is ready by what they bring', () => {
    const waited = /docker compose up .*--wait(?: --\S+ \d+)* (.+)$/m
      .exec(read('.github/workflows/images.yml'))?.[1]
      ?.split(' ')
    expect(waited).toEqual(expect.arrayContaining(['processors', 'console']))
    const byData = ours.filter(([, { healthcheck }]) => healthcheck?.test[3]?.endsWith('/readyz'))
    expect(byData.map(([name]) => name)).toEqual(['api'])
    expect(waited?.filter((name) => name === 'feeds' || byData.some(([other]) => other === name))).toEqual([])
  })

  it('shows nothing but the API beyond this machine', () => {
    const open = services.filter(([, { ports = [] }]) => ports.some((port) => !port.startsWith('127.0.0.1:')))
    expect(open.map(([name]) => name)).toEqual(['api'])
  })

  it('has log, registry and tables where the programs of a checkout look by themselves', () => {
    const { kafka, registry, clickhouse } = compose.services
    const { KAFKA_LISTENERS: listens = '', KAFKA_ADVERTISED_LISTENERS: says = '' } = kafka?.environment ?? {}
    const port = /HOST:\/\/:(\d+)/.exec(listens ?? '')?.[1]
    const own = readConfig({}, ['KAFKA_BROKERS', 'SCHEMA_REGISTRY_URL', 'CLICKHOUSE_URL'])
    expect(says?.split(',')).toContain(`HOST://${own.KAFKA_BROKERS[0]}`)
    expect(kafka?.ports).toEqual([`${own.KAFKA_BROKERS[0]}:${port}`])
    expect(registry?.ports).toEqual([`${new URL(own.SCHEMA_REGISTRY_URL).host}:8080`])
    expect(clickhouse?.ports).toEqual([`${new URL(own.CLICKHOUSE_URL).host}:8123`])
  })

  it('gives dashboards the password of the user who only reads, and no other', () => {
    const { environment = {} } = compose.services['grafana'] ?? {}
    const secrets = Object.keys(environment).filter((name) => /PASSWORD|SECRET|KEY/.test(name))
    expect(secrets).toEqual(['CLICKHOUSE_ANALYST_PASSWORD'])
    const users = compose.services['clickhouse']?.volumes?.find((volume) => volume.includes('users.d'))
    expect(users).toBe('./infra/docker/clickhouse/analyst.xml:/etc/clickhouse-server/users.d/analyst.xml:ro')
  })

  it('bounds what ClickHouse writes of itself, each second and at each query', () => {
    const file = './infra/docker/clickhouse/logs.xml'
    expect(compose.services['clickhouse']?.volumes).toContain(`${file}:/etc/clickhouse-server/config.d/logs.xml:ro`)
    const xml = read(file)
    const off = [...xml.matchAll(/<(\w+)_log remove="1"\/>/g)].map(([, name]) => name)
    const often = ['text', 'trace', 'metric', 'asynchronous_metric', 'latency', 'query_metric']
    expect(off).toEqual([...often, 'background_schedule_pool'])
    const week = /<(\w+)_log><ttl>event_date \+ INTERVAL 7 DAY DELETE<\/ttl><\/\1_log>/g
    expect([...xml.matchAll(week)].map(([, name]) => name)).toEqual(['query', 'query_views', 'part', 'error'])
  })

  it('pins every image', () => {
    const images = services.filter(([, { build }]) => build === undefined).map(([, { image }]) => image)
    expect(images.filter((image) => !/:v?\d+\.\d+/.test(image))).toEqual([])
  })

  it('mounts only files and volumes that exist', () => {
    const sources = services.flatMap(([, { volumes = [] }]) => volumes.map((volume) => volume.split(':')[0] ?? ''))
    const missing = sources.filter((source) =>
      source.startsWith('./') ? !existsSync(new URL(source, root)) : !(source in compose.volumes),
    )
    expect(missing).toEqual([])
  })
})

describe('the Dockerfile', () => {
  it('runs the Node that the package pins', () => {
    const { dependencies } = JSON.parse(read('package.json')) as { dependencies: Record<string, string> }
    expect(dockerfile).toContain(`FROM node:${dependencies['node']}-slim`)
  })

  it('copies only what exists and sets only settings that exist', () => {
    expect(copied.filter((file) => !existsSync(new URL(file, root)))).toEqual([])
    const set = [...dockerfile.matchAll(/([A-Z_]+)=\S+/g)]
      .map(([, name = '']) => name)
      .filter((name) => name !== 'NODE_ENV')
    expect(set.filter((name) => !(name in settings))).toEqual([])
  })

  it('puts no test and no test support into the image', () => {
    const held = copied
      .filter((name) => statSync(new URL(name, root)).isDirectory())
      .flatMap((folder) => filesIn(folder))
      .filter((file) => !isIgnored(file))
    expect(held.length).toBeGreaterThan(300)
    expect(held.filter((file) => /\.test\.|(?:^|\/)(?:testing\/|test[-_])/.test(file))).toEqual([])
  })

  it('leaves out no file that a role needs', () => {
    const files = roleNames.flatMap((role) => [...partsOf(role).files])
    expect(files.length).toBeGreaterThan(1_000)
    expect(files.filter(isIgnored)).toEqual([])
    expect(files.filter((file) => !copied.some((held) => file === held || file.startsWith(`${held}/`)))).toEqual([])
  })
})

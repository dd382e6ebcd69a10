import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { readConfig } from '../config/config.ts'
import { settings, type SettingName } from '../config/settings.ts'
import { roleNames } from '../docker/role.ts'
import { secrets } from '../docker/testing/secrets.ts'

interface Variable {
  readonly name: string
  readonly value?: string
  readonly valueFrom?: { readonly secretKeyRef: { readonly name: string } } | { readonly fieldRef: object }
}

interface Container {
  readonly name: string
  readonly image: string
  readonly env?: readonly Variable[]
  readonly readinessProbe?: object
  readonly lifecycle?: object
  readonly securityContext: object
  readonly resources: { readonly limits: object }
}

interface Manifest {
  readonly kind: string
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> }
  readonly data?: Readonly<Record<string, string>>
  readonly spec?: {
    readonly replicas?: number
    readonly publishNotReadyAddresses?: boolean
    readonly template?: {
      readonly metadata: { readonly labels: Readonly<Record<string, string>> }
      readonly spec: { readonly securityContext: object; readonly containers: readonly Container[] }
    }
  }
}

const text = readFileSync(new URL('market-data-alerts.yaml', import.meta.url), 'utf8')
const manifests = parseAllDocuments(text).map((document) => document.toJS() as Manifest)
const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string
}
const pods = manifests.flatMap(({ spec }) => spec?.template ?? [])
const containers = pods.flatMap(({ spec }) => spec.containers.map((container) => [container.name, container] as const))
const shared: Readonly<Record<string, string>> = manifests.find(({ data }) => data !== undefined)?.data ?? {}

describe('the manifests for Kubernetes', () => {
  it('run every role from the image of this version, the preparation as a job', () => {
    expect(containers.map(([name]) => name).toSorted()).toEqual(roleNames.toSorted())
    for (const [name, { image }] of containers) expect(image).toBe(`market-data-alerts-${name}:${version}`)
    const job = manifests.find(({ kind }) => kind === 'Job')
    expect(job?.metadata.name).toBe(`prepare-${version.replaceAll('.', '-')}`)
  })

  it('make what prepares a version, and nothing else, by one label', () => {
    const first = manifests.filter(({ metadata }) => metadata.labels?.['step'] === 'prepare')
    expect(first.map(({ kind }) => kind)).toEqual(['ConfigMap', 'Job'])
  })

  it.each(['infra/kubernetes/market-data-alerts.yaml', 'api/docs/guides/operations.md'])(
    'are applied as %s says: what prepares first, and all that runs anew after a changed setting',
    (file) => {
      const commands = readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8')
      const named = commands.match(/prepare-\d+-\d+-\d+/g) ?? []
      const job = manifests.find(({ kind }) => kind === 'Job')?.metadata.name
      expect(new Set(named)).toEqual(new Set([job]))
      const order = ['delete job', 'apply -l step=prepare', 'wait --for=condition=complete', 'rollout restart']
      const places = order.map((command) => commands.indexOf(`kubectl ${command}`))
      expect(places.every((place) => place >= 0)).toBe(true)
      expect(places).toEqual(places.toSorted((a, b) => a - b))
      const restarted = /kubectl rollout restart (.*)$/m.exec(commands)?.[1]?.split(' ')
      const running = manifests.filter(({ kind }) => ['Deployment', 'StatefulSet'].includes(kind))
      const names = running.map(({ kind, metadata }) => `${kind.toLowerCase()}/${metadata.name}`)
      expect(restarted?.toSorted()).toEqual(names.toSorted())
    },
  )

  it.each(containers)('give %s settings that there are, with values that can be read', (_name, { env = [] }) => {
    const own = Object.fromEntries(env.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value]])))
    const names = [...Object.keys(shared), ...env.map(({ name }) => name)]
    expect(names.filter((name) => !(name in settings))).toEqual([])
    expect(() => readConfig({ ...shared, ...own }, Object.keys({ ...shared, ...own }) as SettingName[])).not.toThrow()
  })

  it.each(containers)(
    'run %s as nobody special, who can write nothing but its data, within limits',
    (_name, container) => {
      expect(container.securityContext).toMatchObject({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      })
      expect(container.resources.limits).toHaveProperty('memory')
    },
  )

  it('ask whoever stays whether it is ready', () => {
    const silent = containers.filter(([, { readinessProbe }]) => readinessProbe === undefined)
    expect(silent.map(([name]) => name)).toEqual(['prepare'])
  })

  it('end no older host of processors before a newer one has caught up', () => {
    const { readinessProbe } = new Map(containers).get('processors') ?? {}
    expect(readinessProbe).toMatchObject({ httpGet: { path: '/readyz' } })
  })

  it.each(['api', 'console'])('have %s ask each host that holds a part', (name) => {
    const { env = [] } = new Map(containers).get(name) ?? {}
    const asked = env.find((one) => one.name === 'API_SERVICES')?.value ?? ''
    const sets = manifests.filter(({ kind }) => kind === 'StatefulSet')
    expect(sets.map(({ metadata }) => metadata.name)).toEqual(['processors', 'webhooks'])
    for (const { metadata, spec } of sets)
      for (let n = 0; n < (spec?.replicas ?? 0); n++)
        expect(asked).toContain(`${metadata.name}-${n}=http://${metadata.name}-${n}.${metadata.name}:9100`)
  })

  it('have API and console hear of a host that is not well', () => {
    const { env = [] } = new Map(containers).get('api') ?? {}
    const asked = env.find((one) => one.name === 'API_SERVICES')?.value ?? ''
    const names = new Set([...asked.matchAll(/http:\/\/(?:[\w-]+\.)?(\w+):/g)].map(([, name]) => name))
    expect(names).toEqual(new Set(['feeds', 'processors', 'webhooks', 'payments']))
    const hidden = manifests.filter(
      ({ kind, metadata, spec }) =>
        kind === 'Service' && names.has(metadata.name) && spec?.publishNotReadyAddresses !== true,
    )
    expect(hidden.map(({ metadata }) => metadata.name)).toEqual([])
  })

  it.each(containers)('let nobody tell %s his address: no proxy stands before it', (_name, { env = [] }) => {
    expect([...Object.keys(shared), ...env.map(({ name }) => name)]).not.toContain('TRUST_PROXY')
  })

  it('end no API before the balancers have heard of it', () => {
    const { lifecycle } = new Map(containers).get('api') ?? {}
    expect(lifecycle).toEqual({ preStop: { sleep: { seconds: 5 } } })
  })

  it('give each host of feeds a name of its own, however many there are', () => {
    const { env = [] } = new Map(containers).get('feeds') ?? {}
    const name = env.find((one) => one.name === 'FEED_NAME')
    expect(name).toEqual({ name: 'FEED_NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } })
  })

  it('never run as root', () => {
    for (const { spec } of pods) expect(spec.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 1000 })
  })

  it('keep the addresses of services out of settings of the same names', () => {
    for (const { spec } of pods) expect(spec).toMatchObject({ enableServiceLinks: false })
  })

  it.each(secrets)('give %s, from the Secret, to those alone who need it', (secret, roles) => {
    const given = containers.flatMap(([name, { env = [] }]) => {
      const variable = env.find((one) => one.name === secret)
      return variable === undefined ? [] : [[name, variable]]
    })
    expect(new Set(given.map(([name]) => name))).toEqual(new Set(roles))
    for (const [, variable] of given) expect(variable).toMatchObject({ valueFrom: { secretKeyRef: { key: secret } } })
    expect(shared).not.toHaveProperty(secret)
  })

  it('have one writer for one wallet', () => {
    const payments = manifests.find(({ kind, metadata }) => kind === 'Deployment' && metadata.name === 'payments')
    expect(payments?.spec).toMatchObject({ replicas: 1, strategy: { type: 'Recreate' } })
  })
})

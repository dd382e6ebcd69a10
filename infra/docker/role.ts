import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * `node infra/docker/role.ts ROLE FOLDER`: what one role of the system needs to run, and nothing else: the files that its
 * program imports, the data that they read, the packages among them and what these depend on; with `sbom.cdx.json`
 * (CycloneDX 1.5) and `LICENCES.txt`. Fails where a package's licence is none that the product may be given away with.
 */
const roles = {
  prepare: { program: 'infra/prepare.ts', data: ['schemas/records', 'infra/clickhouse/migrations'] },
  processors: { program: 'processors/main.ts', data: ['schemas/records', 'infra/clickhouse/migrations'] },
  feeds: { program: 'processors/feeds/main.ts', data: ['schemas/records'] },
  webhooks: { program: 'processors/webhooks/main.ts', data: ['schemas/records'] },
  payments: { program: 'processors/payments/main.ts', data: ['schemas/records'] },
  api: { program: 'api/main.ts', data: ['schemas/records', 'api/docs/guides', 'api/docs/assets'] },
  console: {
    program: 'api/console/main.ts',
    data: ['schemas/records', 'api/docs/guides', 'api/docs/assets', 'api/console/web'],
  },
} as const

export type Role = keyof typeof roles

export const roleNames = Object.keys(roles) as Role[]

const HEALTH = 'infra/docker/health.ts'
/** Licences that ask for no more than to be named. */
const allowed = new Set(['MIT', 'ISC', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', '0BSD', 'MIT-0', 'BlueOak-1.0.0'])

const root = fileURLToPath(new URL('../../', import.meta.url))

interface Package {
  readonly name: string
  readonly version: string
  readonly licence: string
  /** Its folder from the checkout on. */
  readonly folder: string
}

export interface RoleParts {
  readonly program: string
  /** From the checkout on. */
  readonly files: readonly string[]
  readonly packages: readonly Package[]
}

/** What a role is made of. Throws where a package's licence is not allowed. */
export function partsOf(role: Role): RoleParts {
  const { program, data } = roles[role]
  const read = data.flatMap(filesIn)
  const { files, imported } = reachedFrom([program, HEALTH])
  const shown = data.some((folder) => folder === 'api/docs/guides') ? read.flatMap(filesShown) : []
  const vendors = role === 'console' ? ['lightweight-charts'] : []
  const packages = packagesOf([...imported, ...vendors])
  const wrong = packages.filter(({ licence }) => !isAllowed(licence))
  if (wrong.length > 0)
    throw new Error(
      `not allowed to be given away: ${wrong.map(({ name, licence }) => `${name} (${licence})`).join(', ')}`,
    )
  return { program, files: [...new Set([...files, ...read, ...shown, 'package.json', 'LICENSE'])].toSorted(), packages }
}

/** `A OR B` leaves the choice. */
function isAllowed(licence: string): boolean {
  return licence
    .replace(/^\((.*)\)$/, '$1')
    .split(' OR ')
    .some((choice) => choice.split(' AND ').every((one) => allowed.has(one)))
}

function filesIn(folder: string): string[] {
  return readdirSync(path.join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.includes('.test.'))
    .map((entry) => path.relative(root, path.join(entry.parentPath, entry.name)))
}

/** Files of the repository that a guide shows. */
function filesShown(guide: string): string[] {
  const text = guide.endsWith('.md') ? readFileSync(path.join(root, guide), 'utf8') : ''
  return [...text.matchAll(/<!-- (?:file|code): (\S+) /g)].flatMap(([, file]) => file ?? [])
}

/** Imports that are left when types are stripped, and files that are named for a thread or to be read. */
const reference =
  /^(?:import|export)(?! type\b)[^'";]*? from '([^']+)'|^import '([^']+)'|\b(?:import|require)\('([^']+)'\)|new URL\('([^']+\.ts)', import\.meta\.url\)/gm

function reachedFrom(programs: readonly string[]): {
  readonly files: ReadonlySet<string>
  readonly imported: string[]
} {
  const files = new Set(programs)
  const imported = new Set<string>()
  for (const file of files)
    for (const [, from, bare, late, named] of readFileSync(path.join(root, file), 'utf8').matchAll(reference)) {
      const name = from ?? bare ?? late ?? named ?? ''
      if (name.startsWith('.') || named !== undefined) files.add(path.join(path.dirname(file), name))
      else if (!name.startsWith('node:') && !builtinModules.includes(name)) imported.add(packageName(name))
    }
  return { files, imported: [...imported] }
}

function packageName(specifier: string): string {
  return specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/')
}

interface Manifest {
  readonly version: string
  readonly license?: string | { readonly type: string }
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>
}

/** The packages and all that they depend on, each where Node finds it. */
function packagesOf(names: readonly string[]): Package[] {
  const found = new Map<string, Package>()
  const queue = names.map((name) => ({ name, from: '', isNeeded: true }))
  for (const { name, from, isNeeded } of queue) {
    const folder = folderOf(name, from)
    if (folder === undefined && isNeeded)
      throw new Error(`${name}, which ${from || 'the product'} needs, is not installed: npm ci`)
    if (folder === undefined || found.has(folder)) continue
    const manifest = JSON.parse(readFileSync(path.join(root, folder, 'package.json'), 'utf8')) as Manifest
    const {
      version,
      license = licenceFile(folder),
      dependencies = {},
      optionalDependencies = {},
      peerDependencies = {},
      peerDependenciesMeta = {},
    } = manifest
    const licence = typeof license === 'string' ? license : license.type
    found.set(folder, { name, version, licence, folder })
    const peers = Object.keys(peerDependencies).filter((peer) => peerDependenciesMeta[peer]?.optional !== true)
    for (const other of [...Object.keys({ ...dependencies, ...optionalDependencies }), ...peers])
      queue.push({ name: other, from: folder, isNeeded: other in dependencies && !(other in optionalDependencies) })
  }
  return [...found.values()].toSorted((a, b) => (a.folder < b.folder ? -1 : 1))
}

/** What a package's own file says where its manifest says nothing. */
function licenceFile(folder: string): string {
  const file = path.join(root, folder, 'LICENSE')
  const text = existsSync(file) ? readFileSync(file, 'utf8') : ''
  return /^(?:The )?MIT License/.test(text) ? 'MIT' : 'none'
}

/** Looks as Node does: beside the one that asks, then further up. */
function folderOf(name: string, from: string): string | undefined {
  const parts = from === '' ? [] : from.split('/node_modules/')
  for (let depth = parts.length; depth >= 0; depth -= 1) {
    const folder = path.join(parts.slice(0, depth).join('/node_modules/'), 'node_modules', name)
    if (existsSync(path.join(root, folder, 'package.json'))) return folder
  }
  return undefined
}

/** Makes the folder of a role; `main.ts` in it starts its program. */
export function makeRole(role: Role, target: string): RoleParts {
  const parts = partsOf(role)
  for (const file of parts.files) cpSync(path.join(root, file), path.join(target, file))
  for (const { folder } of parts.packages) copyPackage(folder, target)
  writeFileSync(path.join(target, 'main.ts'), mainOf(parts.program))
  writeFileSync(path.join(target, 'sbom.cdx.json'), `${JSON.stringify(sbomOf(role, parts), null, 2)}\n`)
  const lines = parts.packages.map(({ name, version, licence }) => `${name} ${version}: ${licence}`)
  writeFileSync(path.join(target, 'LICENCES.txt'), `${[...new Set(lines)].join('\n')}\n`)
  return parts
}

/**
 * Starts a role's program. A signal that nobody handles does nothing to a container's first process: so it is handled while
 * the program is read and starts, and afterwards where it has no handler of its own.
 */
export function mainOf(program: string): string {
  return `for (const signal of ['SIGTERM', 'SIGINT'])
  process.on(signal, () => process.listenerCount(signal) === 1 && process.exit(1))
await import('./${program}')
`
}

/** Without what is nested in it, which is copied where it is needed, and without TypeScript, which Node reads of no package. */
function copyPackage(folder: string, target: string): void {
  mkdirSync(path.join(target, folder), { recursive: true })
  const nested = path.join(root, folder, 'node_modules')
  cpSync(path.join(root, folder), path.join(target, folder), {
    recursive: true,
    dereference: true,
    filter: (source) =>
      source !== nested && !source.startsWith(nested + path.sep) && !/\.(?:map|md|[cm]?ts)$/.test(source),
  })
}

/** CycloneDX 1.5. */
function sbomOf(role: Role, { packages }: RoleParts): object {
  const { version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as Manifest
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    version: 1,
    metadata: { component: { type: 'container', name: `market-data-alerts-${role}`, version } },
    components: packages.map(({ name, version: of, licence }) => ({
      type: 'library',
      name,
      version: of,
      purl: `pkg:npm/${name.replace('@', '%40')}@${of}`,
      licenses: [/ OR | AND /.test(licence) ? { expression: licence } : { license: { id: licence } }],
    })),
  }
}

function isRole(name: string): name is Role {
  return name in roles
}

if (import.meta.main) {
  const [role = '', target = ''] = process.argv.slice(2)
  if (!isRole(role) || target === '') {
    console.error(`node infra/docker/role.ts ROLE FOLDER; roles: ${roleNames.join(', ')}`)
    process.exitCode = 2
  } else {
    const { files, packages } = makeRole(role, target)
    console.log(`${role}: ${files.length} files, ${packages.length} packages`)
  }
}

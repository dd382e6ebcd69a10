import { accessSync, constants } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'

/** The local chain cannot be had on this machine; the message says how to mend it. */
class NoAnvilError extends Error {
  readonly code = 'no-anvil'
}

const platforms: Readonly<Record<string, string>> = { win32: 'win32', linux: 'linux', darwin: 'darwin' }
const machines: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' }

/**
 * The chain's program: of the npm package for this platform, else the first `anvil` of the path. The program itself,
 * never the package's wrapper script: when a wrapper is killed, the chain lives on.
 */
export function findAnvil(env: Readonly<Record<string, string | undefined>> = process.env): string {
  const name = `@foundry-rs/anvil-${platforms[process.platform] ?? process.platform}-${machines[process.arch] ?? process.arch}`
  const program = process.platform === 'win32' ? 'anvil.exe' : 'anvil'
  const folders = (env['PATH'] ?? '').split(path.delimiter).filter((folder) => path.isAbsolute(folder))
  const found = [packaged(name, program), ...folders.map((folder) => path.join(folder, program))].find(runs)
  if (found !== undefined) return found
  throw new NoAnvilError(
    `the local chain needs anvil: npm install --no-save ${name}@1.7.1, or put an anvil of Foundry on the PATH; or pay nothing: --payments off`,
  )
}

function packaged(name: string, program: string): string | undefined {
  try {
    return path.join(path.dirname(createRequire(import.meta.url).resolve(`${name}/package.json`)), 'bin', program)
  } catch {
    return undefined // npm installs none of the packages for other platforms
  }
}

function runs(file: string | undefined): file is string {
  if (file === undefined) return false
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}

import { execFile } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

const OPENSSL_MS = 30_000
const CA_DAYS = 3_650
/** Some clients refuse a server's certificate that is valid for longer. */
const SERVER_DAYS = 397
/** One that ends sooner is made anew. */
const RENEW_DAYS = 30
const DAY_MS = 86_400_000

/** The program that makes certificates is not there; the message says what to do. */
export class NoOpensslError extends Error {
  readonly code = 'no-openssl'
}

export interface ReceiverCertificate {
  /** The authority that signed it: what `WEBHOOK_CA_FILE` names. */
  readonly caFile: string
  readonly caPem: string
  /** PEM of the certificate, good for localhost, 127.0.0.1 and ::1. */
  readonly cert: string
  /** PEM of its private key. */
  readonly key: string
}

/** Where `receiverCertificate` keeps the authority below a data folder, whether it is made already or not. */
export function receiverCaFile(dataDir: string): string {
  return path.join(dataDir, 'receiver', 'ca.pem')
}

/**
 * Makes or reads the certificate of the local receiver below `<dataDir>/receiver/`: an authority of its own, and what it
 * signed. Rejects with `NoOpensslError` where one is to be made and the machine has no `openssl` command.
 */
export async function receiverCertificate(
  dataDir: string,
  now: Date,
  openssl = 'openssl',
): Promise<ReceiverCertificate> {
  const folder = path.join(dataDir, 'receiver')
  const known = await readCertificate(folder, now)
  if (known !== undefined) return known
  await makeCertificate(folder, { openssl })
  const made = await readCertificate(folder, now)
  if (made === undefined) throw new Error(`the certificate that was made in ${folder} cannot be read`)
  return made
}

/** What is there; undefined where something is missing or ends soon. */
async function readCertificate(folder: string, now: Date): Promise<ReceiverCertificate | undefined> {
  const caFile = path.join(folder, 'ca.pem')
  try {
    const files = [caFile, path.join(folder, 'cert.pem'), path.join(folder, 'key.pem')]
    const [caPem = '', cert = '', key = ''] = await Promise.all(files.map((file) => readFile(file, 'utf8')))
    const ends = [caPem, cert].map((pem) => Date.parse(new X509Certificate(pem).validTo))
    return Math.min(...ends) - now.getTime() < RENEW_DAYS * DAY_MS ? undefined : { caFile, caPem, cert, key }
  } catch {
    return undefined // missing or damaged: made anew
  }
}

const config = `[req]
prompt = no
distinguished_name = name
[name]
O = Local webhook receiver
CN = localhost
[authority]
basicConstraints = critical, CA:TRUE, pathlen:0
keyUsage = critical, keyCertSign, cRLSign
subjectKeyIdentifier = hash
[server]
basicConstraints = critical, CA:FALSE
keyUsage = critical, digitalSignature
extendedKeyUsage = serverAuth
subjectAltName = DNS:localhost, IP:127.0.0.1, IP:::1
`

/**
 * Makes `ca.pem`, `cert.pem` and `key.pem` in a folder; both anew, since the key of an authority is thrown away once it
 * has signed. `days`: how long the server's is valid; -1: it has ended.
 */
export async function makeCertificate(
  folder: string,
  { openssl = 'openssl', days = SERVER_DAYS }: { openssl?: string; days?: number } = {},
): Promise<void> {
  const work = path.join(folder, `making-${process.pid}`)
  await mkdir(work, { recursive: true, mode: 0o700 }) // and the folder
  const at = (name: string): string => path.join(work, name)
  const command = (...args: string[]): Promise<void> => runOpenssl(openssl, args)
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-sha256']
  const named = ['-config', at('openssl.cnf')]
  try {
    await writeFile(at('openssl.cnf'), config)
    const own = ['-x509', '-extensions', 'authority', '-subj', '/O=Local webhook receiver/CN=Local authority']
    const ca = ['-keyout', at('ca.key'), '-out', at('ca.pem'), '-days', String(CA_DAYS)]
    await command('req', ...own, ...key, ...named, ...ca)
    await command('req', '-new', ...key, ...named, '-keyout', at('key.pem'), '-out', at('cert.csr'))
    const signing = ['-CA', at('ca.pem'), '-CAkey', at('ca.key'), '-CAcreateserial', '-sha256']
    const extensions = ['-extfile', at('openssl.cnf'), '-extensions', 'server', '-days', String(days)]
    await command('x509', '-req', '-in', at('cert.csr'), '-out', at('cert.pem'), ...signing, ...extensions)
    for (const file of ['key.pem', 'cert.pem', 'ca.pem']) await rename(at(file), path.join(folder, file))
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

async function runOpenssl(openssl: string, args: readonly string[]): Promise<void> {
  try {
    await run(openssl, args, { timeout: OPENSSL_MS })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code !== 'ENOENT') throw error
    const message = `the receiver’s certificate is made by the command ${openssl}, which is not there: install OpenSSL or LibreSSL`
    throw new NoOpensslError(message, { cause: error })
  }
}

import { X509Certificate } from 'node:crypto'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { receiverCaFile, receiverCertificate } from './certificate.ts'

const DAY_MS = 86_400_000
const now = new Date()

let folder: string

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'certificate-'))
})

afterEach(() => {
  rmSync(folder, { recursive: true, force: true })
})

it('is good for this machine, signed by an authority whose key is gone', async () => {
  const { cert, caPem, caFile } = await receiverCertificate(folder, now)
  const x509 = new X509Certificate(cert)
  expect(x509.checkHost('localhost')).toBe('localhost')
  expect(x509.checkIP('127.0.0.1')).toBe('127.0.0.1')
  expect(x509.verify(new X509Certificate(caPem).publicKey)).toBe(true)
  expect(caFile).toBe(receiverCaFile(folder))
  expect(readdirSync(path.join(folder, 'receiver')).sort()).toEqual(['ca.pem', 'cert.pem', 'key.pem'])
})

it('is the same at the next start, another when it is damaged or ends soon', async () => {
  const first = await receiverCertificate(folder, now)
  expect(await receiverCertificate(folder, now)).toEqual(first)
  // What is made now ends too soon for that day as well, and says so; but it was made.
  const late = new Date(now.getTime() + 380 * DAY_MS)
  await expect(receiverCertificate(folder, late)).rejects.toThrow('cannot be read')
  expect((await receiverCertificate(folder, now)).cert).not.toBe(first.cert)
  writeFileSync(path.join(folder, 'receiver', 'cert.pem'), 'no certificate')
  expect((await receiverCertificate(folder, now)).cert).toContain('BEGIN CERTIFICATE')
})

it('says what is missing where there is no openssl', async () => {
  await expect(receiverCertificate(folder, now, 'no-such-openssl')).rejects.toMatchObject({ code: 'no-openssl' })
})

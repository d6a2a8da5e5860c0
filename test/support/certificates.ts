/** Certificates for tests, made by openssl when they are needed. */

import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TlsFiles } from '../../src/wire/front-settings.ts'

export interface TestCertificate {
  cert: string
  key: string
}

/** A self-signed certificate, as PEM. */
export function newCertificate(...names: string[]): TestCertificate {
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-certificate-'))
  const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')]
  const all = ['IP:127.0.0.1', ...names.map((name) => `DNS:${name}`)].join(',')
  const usual = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2']
  const files = ['-out', cert, '-keyout', key]
  execFileSync(
    'openssl',
    ['req', ...usual, ...files, '-subj', `/CN=${names[0]}`, '-addext', `subjectAltName=${all}`],
    { stdio: 'pipe' },
  )
  return { cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') }
}

export interface CertificateFolder {
  files: TlsFiles
  /** Replaces both files, each at once, as certificate clients do. */
  write(certificate: TestCertificate): void
}

export function certificateFolder(certificate: TestCertificate): CertificateFolder {
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-certificates-'))
  const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')]
  const write = (next: TestCertificate) => {
    for (const [file, text] of [
      [cert, next.cert],
      [key, next.key],
    ] as const) {
      writeFileSync(`${file}.new`, text, { mode: 0o600 })
      renameSync(`${file}.new`, file)
    }
  }
  write(certificate)
  return { files: { certs: [cert], keys: [key] }, write }
}

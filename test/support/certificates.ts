/** Certificates for tests, made when they are needed. */

import { generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import { mkdtempSync, renameSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TlsFiles } from '../../src/wire/front-settings.ts'

export interface TestCertificate {
  cert: string
  key: string
}

const dayMs = 86_400_000

/** A self-signed certificate for 127.0.0.1 and these names, as PEM. */
export function newCertificate(...names: string[]): TestCertificate {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
  const issuer = sequence(der(0x31, sequence(oid(2, 5, 4, 3), der(0x0c, Buffer.from(names[0]!)))))
  const signedBy = sequence(oid(1, 2, 840, 10045, 4, 3, 2))
  const alternative = sequence(
    der(0x87, Buffer.from([127, 0, 0, 1])),
    ...names.map((name) => der(0x82, Buffer.from(name))),
  )
  const isAuthority = sequence(der(0x01, Buffer.from([0xff])))
  const extensions = sequence(
    sequence(oid(2, 5, 29, 17), der(0x04, alternative)),
    sequence(oid(2, 5, 29, 19), der(0x04, isAuthority)),
  )
  const content = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.concat([Buffer.from([1]), randomBytes(15)])),
    signedBy,
    issuer,
    sequence(time(Date.now() - dayMs), time(Date.now() + 2 * dayMs)),
    issuer,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, extensions),
  )
  const signature = Buffer.concat([Buffer.from([0]), sign('sha256', content, privateKey)])
  const base64 = sequence(content, signedBy, der(0x03, signature)).toString('base64')
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${base64.match(/.{1,64}/g)!.join('\n')}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
  }
}

/** A value in DER: tag, length, content. */
function der(tag: number, ...content: Buffer[]): Buffer {
  const all = Buffer.concat(content)
  const { length } = all
  const head = length < 128 ? [tag, length] : [tag, 0x82, length >> 8, length & 255]
  return Buffer.concat([Buffer.from(head), all])
}

function sequence(...content: Buffer[]): Buffer {
  return der(0x30, ...content)
}

function oid(first: number, second: number, ...rest: number[]): Buffer {
  const bytes = [40 * first + second]
  for (const part of rest)
    bytes.push(...(part < 128 ? [part] : part < 16384 ? [128 | (part >> 7), part & 127] : []))
  return der(0x06, Buffer.from(bytes))
}

/** As `YYMMDDHHMMSSZ`. */
function time(ms: number): Buffer {
  return der(0x17, Buffer.from(`${new Date(ms).toISOString().slice(2, 19).replace(/[-:T]/g, '')}Z`))
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

/** The certificates of the public port, read from files again when these change. */

import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { createSecureContext, type SecureContext, type TlsOptions } from 'node:tls'
import { ConfigError } from '../../lib/errors.ts'
import type { TlsFiles } from '../../wire/front-settings.ts'

/** How often the files are checked for changes. */
const lookMs = 1_000
const minVersion = 'TLSv1.2'

interface Pair {
  cert: Buffer
  key: Buffer
  names: X509Certificate
  context: SecureContext
}

export interface CertificatesParts {
  files: TlsFiles
  log(line: string): void
  everyMs?: number
}

export class Certificates {
  readonly #parts: CertificatesParts
  readonly #onChange: (() => void)[] = []
  readonly #timer: NodeJS.Timeout
  #pairs: readonly Pair[]
  /** State of the files in use, and of files that turned out to be invalid. */
  #used: string
  #refused = ''
  /** Seen at the last look, and not used yet: both files of a pair must have arrived. */
  #seen = ''

  /** Throws a `ConfigError` if the files cannot be used. */
  constructor(parts: CertificatesParts) {
    const { files, everyMs = lookMs } = parts
    this.#parts = parts
    this.#used = stateOf(files)
    this.#pairs = readPairs(files)
    this.#timer = setInterval(() => this.look(), everyMs).unref()
  }

  /** For a TLS server. The first certificate is that of clients that name no host, or an unknown one. */
  options(): Pick<TlsOptions, 'cert' | 'key' | 'minVersion' | 'SNICallback'> {
    const [{ cert, key }] = this.#pairs as [Pair]
    const common = { cert, key, minVersion } as const
    if (this.#pairs.length === 1) return common
    return { ...common, SNICallback: (host, answer) => answer(null, this.#contextFor(host)) }
  }

  onChange(listener: () => void): void {
    this.#onChange.push(listener)
  }

  /** Uses the files if they have changed. If the new ones are invalid, the old ones stay in use. */
  look(): void {
    const state = stateOf(this.#parts.files)
    const isStable = state === this.#seen
    this.#seen = state
    if (state === this.#used || state === this.#refused || !isStable) return
    try {
      this.#pairs = readPairs(this.#parts.files)
      this.#used = state
      this.#refused = ''
      for (const listener of this.#onChange) listener()
      const until = this.#pairs.map(({ names }) => names.validTo).join(', ')
      this.#parts.log(`tls: the certificates were read again; valid until ${until}`)
    } catch (error) {
      this.#refused = state
      this.#parts.log(`tls: the new certificates are not used: ${(error as Error).message}`)
    }
  }

  close(): void {
    clearInterval(this.#timer)
  }

  #contextFor(host: string): SecureContext {
    const found = this.#pairs.find(({ names }) => names.checkHost(host) !== undefined)
    return (found ?? this.#pairs[0]!).context
  }
}

/** Throws a `ConfigError` that names the option and the file. */
export function checkCertificates(files: TlsFiles): void {
  readPairs(files)
}

function readPairs({ certs, keys }: TlsFiles): Pair[] {
  if (certs.length !== keys.length)
    throw new ConfigError(
      `--tls-cert, --tls-key: must name the same number of files, not ${certs.length} and ${keys.length}`,
    )
  return certs.map((file, i) => readPair(file, keys[i]!))
}

function readPair(certFile: string, keyFile: string): Pair {
  const cert = attempt('--tls-cert', certFile, () => readFileSync(certFile))
  const key = attempt('--tls-key', keyFile, () => readFileSync(keyFile))
  const names = attempt('--tls-cert', certFile, () => new X509Certificate(cert))
  const secret = attempt('--tls-key', keyFile, () => createPrivateKey(key))
  if (!names.checkPrivateKey(secret))
    throw new ConfigError(`--tls-key = ${keyFile}: does not belong to the certificate in ${certFile}`)
  return {
    cert,
    key,
    names,
    context: attempt('--tls-cert', certFile, () => createSecureContext({ cert, key, minVersion })),
  }
}

function attempt<T>(option: string, file: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const why = code === 'ENOENT' ? 'does not exist' : `cannot be used (${code ?? message})`
    throw new ConfigError(`${option} = ${file}: ${why}`)
  }
}

/** Differs whenever one of the files was written or replaced. */
function stateOf({ certs, keys }: TlsFiles): string {
  return [...certs, ...keys]
    .map((file) => {
      try {
        const { dev, ino, size, mtimeMs } = statSync(file)
        return `${dev} ${ino} ${size} ${mtimeMs}`
      } catch (error) {
        return (error as NodeJS.ErrnoException).code
      }
    })
    .join(', ')
}

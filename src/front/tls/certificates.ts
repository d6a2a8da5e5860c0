/** Certificates, read from files again when these change. */

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

/** The beginning of the names of their options, by port. */
export type TlsPort = 'tls' | 'admin-tls'

export interface CertificatesParts {
  files: TlsFiles
  /** Default: the public port. */
  port?: TlsPort
  /** True: files that cannot be used at the start are logged, and all handshakes fail until they can be. */
  lenient?: boolean
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
    const { files, everyMs = lookMs, lenient } = parts
    this.#parts = parts
    this.#used = stateOf(files)
    try {
      this.#pairs = readPairs(files, this.#port)
    } catch (error) {
      if (!lenient) throw error
      this.#pairs = []
      parts.log(`${this.#port}: no handshake is possible: ${(error as Error).message}`)
    }
    this.#timer = setInterval(() => this.look(), everyMs).unref()
  }

  get #port(): TlsPort {
    return this.#parts.port ?? 'tls'
  }

  /** For a TLS server. The first certificate is that of clients that name no host, or an unknown one. */
  options(): Pick<TlsOptions, 'cert' | 'key' | 'minVersion' | 'SNICallback'> {
    const [first] = this.#pairs
    if (!first) return { minVersion }
    const { cert, key } = first
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
      this.#pairs = readPairs(this.#parts.files, this.#port)
      this.#used = state
      this.#refused = ''
      for (const listener of this.#onChange) listener()
      const until = this.#pairs.map(({ names }) => names.validTo).join(', ')
      this.#parts.log(`${this.#port}: the certificates were read again; valid until ${until}`)
    } catch (error) {
      this.#refused = state
      this.#parts.log(`${this.#port}: the new certificates are not used: ${(error as Error).message}`)
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
export function checkCertificates(files: TlsFiles, port: TlsPort = 'tls'): void {
  readPairs(files, port)
}

function readPairs({ certs, keys }: TlsFiles, port: TlsPort): Pair[] {
  if (certs.length !== keys.length)
    throw new ConfigError(
      `--${port}-cert, --${port}-key: must name the same number of files, not ${certs.length} and ${keys.length}`,
    )
  return certs.map((file, i) => readPair(file, keys[i]!, port))
}

function readPair(certFile: string, keyFile: string, port: TlsPort): Pair {
  const [certOption, keyOption] = [`--${port}-cert`, `--${port}-key`]
  const cert = attempt(certOption, certFile, () => readFileSync(certFile))
  const key = attempt(keyOption, keyFile, () => readFileSync(keyFile))
  const names = attempt(certOption, certFile, () => new X509Certificate(cert))
  const secret = attempt(keyOption, keyFile, () => createPrivateKey(key))
  if (!names.checkPrivateKey(secret))
    throw new ConfigError(`${keyOption} = ${keyFile}: does not belong to the certificate in ${certFile}`)
  return {
    cert,
    key,
    names,
    context: attempt(certOption, certFile, () => createSecureContext({ cert, key, minVersion })),
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

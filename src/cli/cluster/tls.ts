/** Options of the TLS of a port. */

import { resolve } from 'node:path'
import type { TlsPort } from '../../front/tls/certificates.ts'
import { ConfigError } from '../../lib/errors.ts'
import type { TlsFiles } from '../../wire/front-settings.ts'
import { listFrom } from './addresses.ts'

/** Throws a `ConfigError` if one is missing. Undefined: plain HTTP. */
export function tlsFrom(
  certs: string | undefined,
  keys: string | undefined,
  port: TlsPort = 'tls',
): TlsFiles | undefined {
  if (certs === undefined && keys === undefined) return undefined
  if (keys === undefined) throw new ConfigError(`--${port}-cert = ${certs}: requires --${port}-key`)
  if (certs === undefined) throw new ConfigError(`--${port}-key = ${keys}: requires --${port}-cert`)
  return { certs: paths(certs), keys: paths(keys) }
}

function paths(text: string): string[] {
  return listFrom(text).map((path) => resolve(path))
}

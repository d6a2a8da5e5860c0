/** Options of the public port's TLS. */

import { resolve } from 'node:path'
import { ConfigError } from '../../lib/errors.ts'
import type { TlsFiles } from '../../wire/front-settings.ts'
import { listFrom } from './addresses.ts'

/** Throws a `ConfigError` if one is missing. Undefined: plain HTTP. */
export function tlsFrom(given: {
  tlsCert: string | undefined
  tlsKey: string | undefined
}): TlsFiles | undefined {
  const { tlsCert: certs, tlsKey: keys } = given
  if (certs === undefined && keys === undefined) return undefined
  if (keys === undefined) throw new ConfigError(`--tls-cert = ${certs}: requires --tls-key`)
  if (certs === undefined) throw new ConfigError(`--tls-key = ${keys}: requires --tls-cert`)
  return { certs: paths(certs), keys: paths(keys) }
}

function paths(text: string): string[] {
  return listFrom(text).map((path) => resolve(path))
}

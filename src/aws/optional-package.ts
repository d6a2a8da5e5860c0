/** The packages of AWS are optional peer dependencies: only those who use a service install its package. */

import { ConfigError } from '../lib/errors.ts'

/** Throws ConfigError if the package is not installed. `user` names the setting that requires it. */
export function checkPackage(name: string, user: string): void {
  try {
    import.meta.resolve(name)
  } catch (cause) {
    throw new ConfigError(`${user} requires npm i ${name}`, { cause })
  }
}

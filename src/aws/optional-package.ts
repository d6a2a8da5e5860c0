/** Loads packages of AWS, which are optional peer dependencies: only who uses a service installs its package. */
import { ConfigError } from '../lib/errors.ts'

/** Throws ConfigError if the package is not installed. `user` names the setting that requires it. */
export function checkPackage(name: string, user: string): void {
  try {
    import.meta.resolve(name)
  } catch {
    throw new ConfigError(`${user} requires npm i ${name}`)
  }
}

/** Loads packages that only users of AWS install. */

import { ConfigError } from '../lib/errors.ts'

/** `option`: what requires it. Rejects with ConfigError if it is not installed. */
export async function optionalPackage<T>(name: string, option: string): Promise<T> {
  try {
    return (await import(name)) as T
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error
    throw new ConfigError(`${option}: requires npm i ${name}`)
  }
}

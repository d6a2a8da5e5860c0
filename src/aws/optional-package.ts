/** Packages that only some configurations require. */

import { ConfigError } from '../lib/errors.ts'

/** Rejects with a `ConfigError` that begins with `option` and says what to install. */
export async function optionalPackage<T>(name: string, option: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load()
  } catch (cause) {
    if (!isMissing(cause, name)) throw cause
    throw new ConfigError(`${option}: requires npm i ${name}`, { cause })
  }
}

/** True: the package itself is missing, and not a file that it imports. */
function isMissing(error: unknown, name: string): boolean {
  const { code, message = '' } = error as NodeJS.ErrnoException
  return code === 'ERR_MODULE_NOT_FOUND' && message.includes(`'${name}'`)
}

/** Finds a value by the name that a user gave. */

import { ConfigError } from './errors.ts'

/** Throws a `ConfigError` that lists the known names. */
export function oneOf<T>(option: string, name: string, parts: Readonly<Record<string, T>>): T {
  const part = Object.hasOwn(parts, name) ? parts[name] : undefined
  if (part === undefined) {
    throw new ConfigError(`${option} = ${name}: must be one of ${Object.keys(parts).join(', ')}`)
  }
  return part
}

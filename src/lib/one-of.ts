/** Finds a part by the name that a user gave. */

import { ConfigError } from './errors.ts'

/** The part of that name, or an error that lists the names there are. */
export function oneOf<T>(option: string, name: string, parts: Readonly<Record<string, T>>): T {
  const part = Object.hasOwn(parts, name) ? parts[name] : undefined
  if (part === undefined) {
    throw new ConfigError(`${option} = ${name}: must be one of ${Object.keys(parts).join(', ')}`)
  }
  return part
}

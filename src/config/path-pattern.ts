/** Path patterns: `:scene` in `/render/:scene` matches one segment, `**` in `/files/**` all remaining ones. */

import { ConfigError } from '../lib/errors.ts'

export interface PathPattern {
  readonly text: string
  /** Names of its parameters, including `**`. */
  readonly names: readonly string[]
  /** Decoded parameters by name. Undefined: no match. */
  match(path: readonly string[]): Record<string, string> | undefined
}

/** The name of the remaining segments. */
export const restName = '**'

/** The segments of a path, decoded if possible. */
export function partsOf(path: string): string[] {
  return path.slice(1).split('/').map(decoded)
}

/** `option` names it in errors. */
export function compilePattern(option: string, text: unknown): PathPattern {
  const wrong = (must: string) => new ConfigError(`${option} = ${String(text)}: ${must}`)
  if (typeof text !== 'string' || !text.startsWith('/')) throw wrong('must be a path that begins with /')
  if (text.startsWith('/-/')) throw wrong("must not begin with /-/, which is Plimsoll's own")
  const parts = partsOf(text)
  const rest = parts.at(-1) === restName
  if (rest) parts.pop()
  const names = parts.filter((part) => part.startsWith(':')).map((part) => part.slice(1))
  for (const name of names) {
    if (!/^[A-Za-z_]\w*$/.test(name)) throw wrong(`:${name} must be a name of letters, digits and _`)
    if (names.indexOf(name) !== names.lastIndexOf(name)) throw wrong(`must not name :${name} twice`)
  }
  if (parts.some((part) => part === '.' || part === '..'))
    throw wrong('must not contain . or .., which are resolved before routes are matched')
  const odd = parts.find((part) => /[*?#]/.test(part))
  if (odd !== undefined) {
    throw wrong(`${odd} must be text, or :name for one part; ** for the rest stands at the end`)
  }

  function match(path: readonly string[]): Record<string, string> | undefined {
    if (rest ? path.length < parts.length : path.length !== parts.length) return undefined
    const found: [name: string, value: string][] = []
    for (let i = 0; i < parts.length; i++) {
      const part = parts[i]!
      const value = path[i]!
      if (part.startsWith(':') && value !== '') found.push([part.slice(1), value])
      else if (part !== value) return undefined
    }
    if (rest) found.push([restName, path.slice(parts.length).join('/')])
    // A name may be one of Object.prototype.
    return Object.fromEntries(found)
  }

  return { text, names: rest ? [...names, restName] : names, match }
}

function decoded(part: string): string {
  if (!part.includes('%')) return part
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

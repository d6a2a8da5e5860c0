/** Finishes the type declarations that `tsc` wrote. */

import { dirname, join } from 'node:path'

const relativeImport = /((?:\bfrom|\bimport)\s*\(?\s*)(['"])(\.\.?\/[^'"]+)\.ts\2/g

/** Names imported modules by their compiled names: `tsc` rewrites specifiers in code, but not in declarations. */
export function withCompiledNames(declaration: string): string {
  return declaration.replace(relativeImport, '$1$2$3.js$2')
}

/** The declarations that users can reach from the entries; the others describe internals. Paths end with `.d.ts`. */
export function reachable(entries: readonly string[], read: (path: string) => string): Set<string> {
  const found = new Set<string>()
  const todo = [...entries]
  for (let path = todo.pop(); path !== undefined; path = todo.pop()) {
    if (found.has(path)) continue
    found.add(path)
    for (const [, , , specifier] of read(path).matchAll(relativeImport)) {
      todo.push(join(dirname(path), `${specifier}.d.ts`))
    }
  }
  return found
}

/** Which code file imports which. Packages and files that are not code are left out. */

import { existsSync, readFileSync } from 'node:fs'
import { join, matchesGlob, posix } from 'node:path'
import { isTestCode } from './files.ts'
import type { CodeFile, Import } from './parse.ts'

export interface ImportEdge {
  from: string
  to: string
  line: number
  kind: Import['kind']
}

/** The project's `package.json`, as far as imports go. Paths are relative to the project. */
export interface Package {
  /** Public specifiers of this package, such as `plimsoll/workload`, and their files. */
  exports: ReadonlyMap<string, string>
  /** Files that others start from: exports and commands. */
  entries: string[]
}

export function readPackage(root: string): Package {
  const path = join(root, 'package.json')
  if (!existsSync(path)) return { exports: new Map(), entries: [] }
  const {
    name,
    exports = {},
    bin = {},
  } = JSON.parse(readFileSync(path, 'utf8')) as {
    name: string
    exports?: Record<string, string>
    bin?: Record<string, string>
  }
  const files = new Map(
    Object.entries(exports).map(([key, file]) => [posix.join(name, key), posix.normalize(file)]),
  )
  const commands = Object.values(bin).map((file) => posix.normalize(file))
  return { exports: files, entries: [...files.values(), ...commands] }
}

export function importEdges(files: readonly CodeFile[], { exports }: Package): ImportEdge[] {
  const paths = new Set(files.map(({ path }) => path))
  return files.flatMap(({ path: from, imports }) =>
    imports.flatMap(({ specifier, line, kind }) => {
      const target = exports.get(specifier) ?? relativeTarget(from, specifier)
      if (target === undefined) return []
      const targets = target.includes('*') ? [...paths].filter((path) => matchesGlob(path, target)) : [target]
      return targets.filter((to) => paths.has(to)).map((to) => ({ from, to, line, kind }))
    }),
  )
}

/** Imports that bind source files to each other: entry points of processes and test code are left out. */
export function withoutTests(edges: readonly ImportEdge[]): ImportEdge[] {
  return edges.filter(({ from, to, kind }) => kind === 'import' && !isTestCode(from) && !isTestCode(to))
}

function relativeTarget(from: string, specifier: string): string | undefined {
  if (!/^\.\.?\//.test(specifier)) return undefined
  return posix.join(posix.dirname(from), specifier.replace(/\?.*$/, ''))
}

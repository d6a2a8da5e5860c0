/** Hashes a workload's code, so that costs learned of one version are not used for another. */
import { createHash } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { dirname, join, relative, resolve, sep } from 'node:path'

/**
 * SHA-256 of a file and of everything that it imports by relative specifiers, transitively. The same code has the same
 * hash in any folder. Packages are not followed: the lock file pins their versions.
 */
export async function codeHash(file: string): Promise<string> {
  const entry = resolve(file)
  const sources = await sourcesOf(entry)
  const hash = createHash('sha256')
  const name = (path: string) => relative(dirname(entry), path).split(sep).join('/')
  const byName = [...sources].map(([path, source]) => [name(path), source] as const)
  byName.sort(([a], [b]) => (a < b ? -1 : 1))
  for (const [path, source] of byName) hash.update(`${path}\0${source.length}\0`).update(source)
  return hash.digest('hex')
}

/** The contents of a file and of everything that it imports by relative specifiers, by path. */
export async function sourcesOf(entry: string): Promise<Map<string, Buffer>> {
  const sources = new Map<string, Buffer>()
  const todo = [resolve(entry)]
  for (let path = todo.pop(); path !== undefined; path = todo.pop()) {
    if (sources.has(path)) continue
    const source = await readFile(path)
    sources.set(path, source)
    for (const specifier of relativeSpecifiers(source.toString('latin1'))) {
      const target = await locate(join(dirname(path), specifier))
      if (target) todo.push(target)
    }
  }
  return sources
}

/** Errs on the side of too much: a specifier in a comment counts if the file exists. */
function relativeSpecifiers(source: string): string[] {
  const pattern = /\b(?:from|import|require)\s*\(?\s*(["'`])(\.\.?\/[^"'`\n]+)\1/g
  return [...source.matchAll(pattern)].map((match) => Buffer.from(match[2]!, 'latin1').toString())
}

async function locate(path: string): Promise<string | undefined> {
  for (const end of ['', '.js', '.json', '.cjs', '.ts', '/index.js', '/index.cjs', '/index.ts']) {
    const found = await stat(path + end).catch(() => undefined)
    if (found?.isFile()) return path + end
  }
  return undefined
}

/** Which files are checked, and what kind of file each is. Paths are relative to the project and use `/`. */

import { globSync } from 'node:fs'
import { basename } from 'node:path'

const codeFolders = ['src', 'test', 'bench', 'tools', 'workloads']

const ignored = (name: string) => basename(name) === 'node_modules' || basename(name).startsWith('.')

export function codeFiles(root: string): string[] {
  const patterns = codeFolders.map((folder) => `${folder}/**/*.{ts,js,mjs}`)
  return globSync(patterns, { cwd: root, exclude: ignored }).sort()
}

export function markdownFiles(root: string): string[] {
  return globSync('**/*.md', { cwd: root, exclude: ignored }).sort()
}

/** The first folder below `src/`; `index` for files directly in `src/`; undefined outside of `src/`. */
export function roomOf(path: string): string | undefined {
  const [top, ...rest] = path.split('/')
  if (top !== 'src') return undefined
  return rest.length > 1 ? rest[0] : 'index'
}

/** Code for tests only. It may import from any room. */
export function isTestCode(path: string): boolean {
  return /\.test\.[a-z]+$|(?:^|\/)(?:testing|fixtures)\/|(?:^|[/-])contract\.ts$/.test(path)
}

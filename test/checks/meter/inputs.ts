/** Inputs for third-party packages: files of this repository and of installed packages, in a fixed order. */
import { globSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '../../..')

/** Untyped, because some of the packages have no types. */
export const load = (name: string) => import(name)

export interface InputFile {
  readonly name: string
  readonly text: string
}

export function filesOf(pattern: string, limit = Number.POSITIVE_INFINITY): InputFile[] {
  const names = globSync(pattern, { cwd: root })
    .map((name) => name.replaceAll('\\', '/'))
    .sort()
  return names.slice(0, limit).map((name) => ({ name, text: readFileSync(join(root, name), 'utf8') }))
}

export function fileOf(packageName: string, path: string): InputFile {
  const folder = dirname(createRequire(import.meta.url).resolve(`${packageName}/package.json`))
  return { name: `${packageName}/${path}`, text: readFileSync(join(folder, path), 'utf8') }
}

/** Packs the package from a copy of the checkout, so that the checkout stays as it is while others use it. */

import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { npm, run } from './run.ts'

export interface Packed {
  tarball: string
  bytes: number
  unpackedBytes: number
  files: string[]
}

/** Copies all files of the checkout that git does not ignore. */
export function copyCheckout(root: string, copy: string): void {
  const args = ['ls-files', '-z', '--cached', '--others', '--exclude-standard']
  const names = execFileSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: 1 << 26 }).split('\0')
  for (const name of names) {
    if (name && existsSync(join(root, name))) cpSync(join(root, name), join(copy, name))
  }
}

export async function pack(root: string, folder: string): Promise<Packed> {
  const copy = join(folder, 'checkout')
  mkdirSync(copy, { recursive: true })
  copyCheckout(root, copy)
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))
  const place = { cwd: copy, node: process.execPath }
  const { stdout } = await run(place, npm('pack', '--json', '--pack-destination', folder))
  // npm prints the output of scripts before the JSON.
  const [info] = Object.values(JSON.parse(stdout.slice(stdout.search(/^[[{]/m)))) as {
    filename: string
    size: number
    unpackedSize: number
    files: { path: string }[]
  }[]
  return {
    tarball: join(folder, info!.filename),
    bytes: info!.size,
    unpackedBytes: info!.unpackedSize,
    files: info!.files.map(({ path }) => path),
  }
}

/** Files that do not belong into the package, and files that it lacks. */
export function wrongFiles(files: readonly string[]): string[] {
  const stray = files.filter(
    (file) =>
      !/^(dist\/(src|workloads)\/|package\.json$|README\.md$|LICENSE$)/.test(file) ||
      /\.test\.|\/fixtures\//.test(file) ||
      (file.endsWith('.ts') && !file.endsWith('.d.ts')),
  )
  const needed = ['dist/src/cli/plimsoll.js', 'dist/src/index.d.ts', 'dist/workloads/julia.js', 'LICENSE']
  const missing = needed.filter((file) => !files.includes(file))
  return [...stray.map((file) => `stray ${file}`), ...missing.map((file) => `missing ${file}`)]
}

/**
 * Copies code aside, so that workers can start from it however its files are edited later. Each version is a folder
 * named by its hash. It mirrors absolute paths: code is copied, everything beside it is linked, so that packages, data
 * files and relative paths are found where they were.
 */

import { createHash } from 'node:crypto'
import { existsSync, realpathSync } from 'node:fs'
import {
  lstat,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises'
import { dirname, join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isAlive } from '../lib/alive.ts'
import { ConfigError } from '../lib/errors.ts'
import { keptFolder } from '../lib/kept-path.ts'
import { privateFile, privateFolder } from '../lib/private-files.ts'
import { sourcesOf } from './code-hash.ts'

export interface KeptCode {
  /** Equal for equal code at the same paths. */
  id: string
  /** The folder of the copy. */
  root: string
  /** Where a file or folder is found in the copy; its own path if it is not part of it. */
  pathOf(original: string): string
  /** Originals of all files copied. */
  files: readonly string[]
}

export interface KeepOptions {
  /** Entry modules, whose relative imports are copied too, and other files. */
  files: readonly string[]
  /** Folders that are reachable in the copy even if nothing in them is copied. */
  folders?: readonly string[]
  dataDir: string
}

/** Versions kept in a data folder, besides those in use. */
const mostVersions = 4
const mostBytes = 256 * 1024 * 1024
const packageRoot = fileURLToPath(new URL('../..', import.meta.url))
/** Part of the installed package: a process cannot change to another version of its own code. */
const ownFolders = [join(packageRoot, 'src') + sep, join(packageRoot, 'workloads') + sep]

export async function keepCode({ files, folders = [], dataDir }: KeepOptions): Promise<KeptCode> {
  const sources = await readSources(files)
  const reached = new Set([...sources.keys()].map((path) => dirname(path)))
  for (const folder of folders) reached.add(realPath(folder))
  const id = idOf(sources, reached)
  const home = join(realpathSync(await madeFolder(dataDir)), keptFolder)
  const root = join(home, id)
  for (const [path, source] of sources) await write(join(root, path), path, source)
  // Before anything is linked, so that nothing is ever written through a link.
  for (const folder of reached) await madeFolder(join(root, folder))
  await linkAround(root, reached)
  // Marks it as used.
  await utimes(await madeFolder(root), new Date(), new Date())
  return {
    id,
    root,
    pathOf(original) {
      const path = realPath(original)
      return isOwn(path) || !existsSync(join(root, path)) ? original : join(root, path)
    },
    files: [...sources.keys()],
  }
}

/** The contents of files and of the modules that they import, by real path, with the `package.json` of each. */
async function readSources(files: readonly string[]): Promise<Map<string, Buffer>> {
  const sources = new Map<string, Buffer>()
  let bytes = 0
  const add = (path: string, source: Buffer) => {
    if (sources.has(path) || isOwn(path)) return
    sources.set(path, source)
    bytes += source.length
    if (bytes > mostBytes)
      throw new ConfigError(
        `${path}: the code is larger than ${mostBytes / 1024 / 1024} MB; name fewer files (workers.files)`,
      )
  }
  for (const file of files.map(realPath)) {
    if (sources.has(file) || isOwn(file)) continue
    if (!existsSync(file)) throw new ConfigError(`${file}: no such file`)
    if (!/\.[cm]?[jt]s$/.test(file)) add(file, await readFile(file))
    else for (const [path, source] of await sourcesOf(file)) add(path, source)
  }
  for (const path of [...sources.keys()]) {
    const found = packageOf(dirname(path))
    if (found !== undefined) add(found, await readFile(found))
  }
  return sources
}

/** The `package.json` that applies to a folder. */
function packageOf(folder: string): string | undefined {
  for (let at = folder, last = ''; at !== last; last = at, at = dirname(at)) {
    const found = join(at, 'package.json')
    if (existsSync(found)) return found
  }
  return undefined
}

function idOf(sources: ReadonlyMap<string, Buffer>, folders: ReadonlySet<string>): string {
  const hash = createHash('sha256').update(JSON.stringify([...folders].sort()))
  for (const [path, source] of [...sources].sort(([a], [b]) => (a < b ? -1 : 1)))
    hash.update(`${path}\0${source.length}\0`).update(source)
  return hash.digest('hex').slice(0, 16)
}

/** A copy that was left incomplete, or changed by somebody, is made complete. */
async function write(copy: string, original: string, source: Buffer): Promise<void> {
  const there = await readFile(copy).catch(() => undefined)
  if (there?.equals(source)) return
  await madeFolder(dirname(copy))
  const { mode = privateFile, mtimeMs = 0 } = (await stat(original).catch(() => undefined)) ?? {}
  // Other processes may start from the same copy.
  const draft = `${copy}.${process.pid}`
  await writeFile(draft, source, { mode: (mode & privateFolder) | privateFile })
  await utimes(draft, mtimeMs / 1000, mtimeMs / 1000)
  await rename(draft, copy)
}

/** Links what lies beside the copies, up to the folder of their `package.json`, and above it `node_modules`. */
async function linkAround(root: string, folders: ReadonlySet<string>): Promise<void> {
  const done = new Set<string>()
  for (const folder of folders) {
    const packageFile = packageOf(folder)
    const top = packageFile === undefined ? folder : dirname(packageFile)
    let isInside = true
    for (let at = folder, last = ''; at !== last; last = at, at = dirname(at)) {
      if (isInside && !done.has(at)) {
        done.add(at)
        await linkEntries(root, at, await readdir(at).catch(() => []))
      } else if (!isInside && existsSync(join(at, 'node_modules')))
        await linkEntries(root, at, ['node_modules'])
      if (at === top) isInside = false
    }
  }
}

async function linkEntries(root: string, folder: string, entries: readonly string[]): Promise<void> {
  for (const entry of entries) await link(join(folder, entry), join(root, folder, entry))
}

async function link(target: string, path: string): Promise<void> {
  await symlink(target, path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
}

/** Removes the copies that were not used for longest, except those in use by this and by other processes. */
export async function removeOldCode(dataDir: string, inUse: readonly string[]): Promise<void> {
  const home = join(dataDir, keptFolder)
  const used = new Set(await markInUse(join(home, 'in-use'), inUse))
  const ids = (await readdir(home)).filter((name) => /^[0-9a-f]{16}$/.test(name) && !used.has(name))
  const found = await Promise.all(
    ids.map(async (id) => ({ id, at: (await lstat(join(home, id)).catch(() => undefined))?.mtimeMs ?? 0 })),
  )
  found.sort((a, b) => b.at - a.at)
  for (const { id } of found.slice(mostVersions)) await rm(join(home, id), { recursive: true, force: true })
}

/** Each process has a file that lists what it uses. Returns what all processes use. */
async function markInUse(folder: string, ids: readonly string[]): Promise<string[]> {
  await writeFile(join(await madeFolder(folder), `${process.pid}`), ids.join(' '), { mode: privateFile })
  const all: string[] = []
  for (const pid of await readdir(folder)) {
    const path = join(folder, pid)
    if (isAlive(Number(pid))) all.push(...(await readFile(path, 'utf8').catch(() => '')).split(' '))
    else await rm(path, { force: true })
  }
  return all
}

async function madeFolder(path: string): Promise<string> {
  await mkdir(path, { recursive: true, mode: privateFolder })
  return path
}

function isOwn(path: string): boolean {
  return ownFolders.some((folder) => path.startsWith(folder))
}

/** Node resolves links before it looks for imports. */
function realPath(path: string): string {
  return existsSync(path) ? realpathSync(path) : path
}

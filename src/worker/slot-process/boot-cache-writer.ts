/** Writes the cache of a slot's modules, with all that their resolutions depend on. */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { findPackageJSON } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  type Entry,
  type Index,
  type Premises,
  type Recording,
  type Resolution,
  resolutionKey,
  stampOf,
} from './boot-cache.ts'

/** Older ones are removed. */
const mostCaches = 10

/** If it cannot be written, the next slot tries again. */
export function writeBootCache(file: string, { modules, resolutions: all }: Recording): void {
  let text = ''
  const entries: Entry[] = []
  for (const [url, { source, format, stamp }] of modules) {
    text += source
    entries.push({ url, path: fileURLToPath(url), format, stamp, end: text.length })
  }
  const own = all.filter(({ url }) => modules.has(url))
  const resolutions = Object.fromEntries(
    own.map(({ parentURL, specifier, url }) => [resolutionKey(parentURL, specifier), url]),
  )
  try {
    const premises = premisesOf([...modules.keys()], own)
    const index: Index = { node: process.version, modules: entries, resolutions, ...premises }
    mkdirSync(dirname(file), { recursive: true })
    const draft = `${file}.${process.pid}`
    writeFileSync(draft, `${JSON.stringify(index)}\n${text}`)
    renameSync(draft, file)
    removeOld(dirname(file))
  } catch {
    // Without a cache slots start more slowly.
  }
}

function premisesOf(urls: readonly string[], resolutions: readonly Resolution[]): Premises {
  const packages: Record<string, string> = {}
  const absent = new Set<string>()
  const links: Record<string, string> = {}
  const addPackage = (path: string) => {
    packages[path] ??= stampOf(path) ?? ''
  }
  for (const url of urls) {
    const found = findPackageJSON(url)
    if (found !== undefined) addPackage(found)
    for (const folder of foldersAbove(fileURLToPath(url))) {
      const path = join(folder, 'package.json')
      if (path === found) break
      absent.add(path)
    }
  }
  for (const { parentURL, specifier, url } of resolutions) {
    const name = packageIn(specifier)
    if (name === undefined) {
      const link = linkOf(specifier, parentURL, url)
      if (link !== undefined) links[link] = realpathSync(link)
      continue
    }
    for (const folder of foldersAbove(fileURLToPath(parentURL))) {
      const path = join(folder, 'node_modules', name)
      if (existsSync(path)) {
        addPackage(join(path, 'package.json'))
        break
      }
      absent.add(path)
    }
  }
  return { packages, absent: [...absent], links }
}

function foldersAbove(path: string): string[] {
  const folders: string[] = []
  for (let at = dirname(path), last = path; at !== last; last = at, at = dirname(at)) folders.push(at)
  return folders
}

/** Undefined: not a package's name. */
function packageIn(specifier: string): string | undefined {
  return /^(@[^/]+\/)?[^./#@:][^/:]*(?=\/|$)/.exec(specifier)?.[0]
}

/** The path by which a module was imported, if that is not where it is. */
function linkOf(specifier: string, parentURL: string, url: string): string | undefined {
  if (specifier.startsWith('#')) return undefined
  const named = new URL(specifier, parentURL || undefined).href
  return named === url ? undefined : fileURLToPath(named)
}

/** Each version of the workloads has a cache of its own. */
function removeOld(folder: string): void {
  const files = readdirSync(folder).map((name) => join(folder, name))
  const byAge = files.map((path) => ({ path, at: statSync(path).mtimeMs })).sort((a, b) => b.at - a.at)
  for (const { path } of byAge.slice(mostCaches)) rmSync(path, { force: true })
}

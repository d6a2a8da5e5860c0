/**
 * Remembers which modules a slot loads while it starts, with their resolutions and sources in one file, so that later slots
 * need not search for each module and open it: that takes a third of their start. The cache is used only if no file in it,
 * and no package.json that applies to one, has changed.
 */
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { findPackageJSON, registerHooks } from 'node:module'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'

/** Other formats have loaders that find their dependencies themselves. */
const formats: ReadonlySet<string> = new Set(['module', 'module-typescript'])

/** Older ones are removed. */
const mostCaches = 10

/** In the text of all sources a module's source ends at `end`, in UTF-16 units. */
interface Entry {
  url: string
  format: string
  stamp: string
  end: number
}

interface Index {
  node: string
  modules: Entry[]
  /** Stamps of files by URL. */
  packages: Record<string, string>
  /** By the importing module and the specifier. */
  resolutions: Record<string, string>
}

interface Known {
  format: string
  source: string
}

interface Recorded extends Known {
  stamp: string
}

export interface BootCache {
  /** All modules are loaded. `isUsual`: other slots will load the same ones. */
  end(isUsual: boolean): void
}

interface Cache {
  modules: ReadonlyMap<string, Known>
  resolutions: Readonly<Record<string, string>>
}

/** `file`: where the cache is kept. */
export function startBootCache(file: string): BootCache {
  const known = read(file)
  const modules = new Map<string, Recorded>()
  const resolutions: Record<string, string> = {}
  const hooks = registerHooks({
    resolve(specifier, context, nextResolve) {
      const { conditions, importAttributes, parentURL = '' } = context
      if (!conditions.includes('import') || Object.keys(importAttributes).length > 0)
        return nextResolve(specifier, context)
      const key = `${parentURL} ${specifier}`
      const url = known?.resolutions[key]
      const module = url === undefined ? undefined : known!.modules.get(url)
      if (module) return { url: url!, format: module.format, shortCircuit: true }
      const resolved = nextResolve(specifier, context)
      resolutions[key] = resolved.url
      return resolved
    },
    load(url, context, nextLoad) {
      const module = known?.modules.get(url)
      if (module) return { ...module, shortCircuit: true }
      const stamp = stampOf(url)
      const loaded = nextLoad(url, context)
      const { source, format } = loaded
      if (stamp !== undefined && source && format && formats.has(format)) {
        const text = typeof source === 'string' ? source : new TextDecoder().decode(source)
        modules.set(url, { format, source: text, stamp })
      }
      return loaded
    },
  })
  return {
    end(isUsual) {
      hooks.deregister()
      if (!known && isUsual) write(file, modules, resolutions)
    },
  }
}

function write(
  file: string,
  modules: ReadonlyMap<string, Recorded>,
  all: Readonly<Record<string, string>>,
): void {
  let text = ''
  const entries: Entry[] = []
  const packages: Record<string, string> = {}
  for (const [url, { source, format, stamp }] of modules) {
    text += source
    entries.push({ url, format, stamp, end: text.length })
    const path = findPackageJSON(url)
    const packageUrl = path === undefined ? undefined : pathToFileURL(path).href
    if (packageUrl !== undefined) packages[packageUrl] ??= stampOf(packageUrl) ?? ''
  }
  const resolutions = Object.fromEntries(Object.entries(all).filter(([, url]) => modules.has(url)))
  const index: Index = { node: process.version, modules: entries, packages, resolutions }
  try {
    mkdirSync(dirname(file), { recursive: true })
    const draft = `${file}.${process.pid}`
    writeFileSync(draft, `${JSON.stringify(index)}\n${text}`)
    renameSync(draft, file)
    removeOld(dirname(file))
  } catch {
    // The next slot tries again.
  }
}

/** Each version of the workloads has a cache of its own. */
function removeOld(folder: string): void {
  const files = readdirSync(folder).map((name) => join(folder, name))
  const byAge = files.map((path) => ({ path, at: statSync(path).mtimeMs })).sort((a, b) => b.at - a.at)
  for (const { path } of byAge.slice(mostCaches)) rmSync(path, { force: true })
}

/** Undefined: no cache, or one that is out of date. */
function read(file: string): Cache | undefined {
  try {
    const all = readFileSync(file, 'utf8')
    const textAt = all.indexOf('\n') + 1
    const { node, modules, packages, resolutions } = JSON.parse(all.slice(0, textAt)) as Index
    if (node !== process.version) return undefined
    for (const url in packages) if (stampOf(url) !== packages[url]) return undefined
    const found = new Map<string, Known>()
    let at = textAt
    for (const { url, format, stamp, end } of modules) {
      if (stampOf(url) !== stamp) return undefined
      found.set(url, { format, source: all.slice(at, textAt + end) })
      at = textAt + end
    }
    return at === all.length ? { modules: found, resolutions } : undefined
  } catch {
    return undefined
  }
}

/** Differs if the file was written or replaced. npm gives all files of packages the same time of modification. */
function stampOf(url: string): string | undefined {
  if (!url.startsWith('file:')) return undefined
  const stat = statSync(new URL(url), { throwIfNoEntry: false })
  return stat && `${stat.ino} ${stat.size} ${stat.mtimeMs} ${stat.ctimeMs}`
}

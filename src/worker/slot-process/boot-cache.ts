/**
 * Remembers which modules a slot loads while it starts, with their resolutions and sources in one file, so that later slots
 * need not search for each module and open it: that takes a third of their start. The cache is used only if every module
 * would be found where it was, with the same content.
 */
import { registerHooks } from 'node:module'

// An import would load all of its parts, which costs each slot 2 ms.
const { existsSync, readFileSync, realpathSync, statSync } = process.getBuiltinModule('node:fs')

/** Other formats have loaders that find their dependencies themselves. */
const formats: ReadonlySet<string> = new Set(['module', 'module-typescript'])

/** In the text of all sources a module's source ends at `end`, in UTF-16 units. */
export interface Entry {
  url: string
  path: string
  format: string
  stamp: string
  end: number
}

/** What the resolutions depend on. A change of any of it makes the cache useless. */
export interface Premises {
  /** Stamps of `package.json` files, by path. */
  packages: Record<string, string>
  /** Paths at which a file would be found before the one that was. */
  absent: string[]
  /** Real paths, by paths that go through a link. */
  links: Record<string, string>
}

export interface Index extends Premises {
  node: string
  modules: Entry[]
  /** By the importing module and the specifier. */
  resolutions: Record<string, string>
}

interface Known {
  format: string
  source: string
}

export interface Recorded extends Known {
  stamp: string
}

export interface Resolution {
  parentURL: string
  specifier: string
  url: string
}

/** The modules that were loaded without a cache, in their order. */
export interface Recording {
  modules: ReadonlyMap<string, Recorded>
  resolutions: readonly Resolution[]
}

export interface BootCache {
  /** All modules are loaded. Returns what the cache should hold; undefined: it is up to date. */
  end(): Recording | undefined
}

interface Cache {
  modules: ReadonlyMap<string, Known>
  resolutions: Readonly<Record<string, string>>
}

/** `file`: where the cache is kept. */
export function startBootCache(file: string): BootCache {
  const known = read(file)
  const modules = new Map<string, Recorded>()
  const resolutions: Resolution[] = []
  const hooks = registerHooks({
    resolve(specifier, context, nextResolve) {
      const { conditions, importAttributes, parentURL = '' } = context
      if (!conditions.includes('import') || Object.keys(importAttributes).length > 0)
        return nextResolve(specifier, context)
      const url = known?.resolutions[resolutionKey(parentURL, specifier)]
      const module = url === undefined ? undefined : known!.modules.get(url)
      if (module) return { url: url!, format: module.format, shortCircuit: true }
      const resolved = nextResolve(specifier, context)
      resolutions.push({ parentURL, specifier, url: resolved.url })
      return resolved
    },
    load(url, context, nextLoad) {
      const module = known?.modules.get(url)
      if (module) return { ...module, shortCircuit: true }
      const stamp = url.startsWith('file:') ? stampOf(new URL(url)) : undefined
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
    end() {
      hooks.deregister()
      return known ? undefined : { modules, resolutions }
    },
  }
}

export function resolutionKey(parentURL: string, specifier: string): string {
  return `${parentURL} ${specifier}`
}

/** Undefined: no cache, or one that is out of date. */
function read(file: string): Cache | undefined {
  try {
    const all = readFileSync(file, 'utf8')
    const textAt = all.indexOf('\n') + 1
    const index = JSON.parse(all.slice(0, textAt)) as Index
    const { modules, resolutions } = index
    if (index.node !== process.version || !hold(index)) return undefined
    const found = new Map<string, Known>()
    let at = textAt
    for (const { url, path, format, stamp, end } of modules) {
      if (stampOf(path) !== stamp) return undefined
      found.set(url, { format, source: all.slice(at, textAt + end) })
      at = textAt + end
    }
    return at === all.length ? { modules: found, resolutions } : undefined
  } catch {
    return undefined
  }
}

function hold({ packages, absent, links }: Premises): boolean {
  for (const path in packages) if (stampOf(path) !== packages[path]) return false
  for (const path of absent) if (existsSync(path)) return false
  for (const path in links) if (realpathSync(path) !== links[path]) return false
  return true
}

/**
 * Differs if the file was written or replaced. npm gives all files of packages the same time of modification, so the time of
 * change counts too.
 */
export function stampOf(path: string | URL): string | undefined {
  const stat = statSync(path, { throwIfNoEntry: false })
  return stat && `${stat.ino} ${stat.size} ${stat.mtimeMs} ${stat.ctimeMs}`
}

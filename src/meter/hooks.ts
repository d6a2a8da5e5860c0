/** Meters modules as they are loaded: those in the workloads' folders, and those of the configured packages. */
import { createRequire, registerHooks, setSourceMapsSupport } from 'node:module'
import { extname, join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { originalPath } from '../lib/kept-path.ts'
import type { MeterMode } from '../model/metering.ts'
import { defaultFormula, type Formula, type Tally } from '../model/metrics.ts'
import { regionMarks } from './counting.ts'
import { prefix, prefixOf } from './names.ts'
import { installRuntime, type MeterRuntime } from './runtime.ts'

// An import would load all of its parts, which costs each slot 2 ms.
const { mkdirSync, readFileSync, renameSync, writeFileSync } = process.getBuiltinModule('node:fs')

/** Incremented whenever the same code is counted differently: earlier measurements are then not comparable. */
export const meterVersion = 3

export interface MeterOptions {
  mode: MeterMode
  formula: Formula
  /** Folders whose modules are metered, except for npm packages inside them. */
  folders: string[]
  /** npm packages that are metered as well. */
  packages: string[]
  /** Files in those folders that are not metered. */
  except?: string[]
  /** Code whose work is counted apart, for workloads that count only some. */
  listed?: readonly ListedCode[]
  /** Cache of rewritten modules, so that only the first process has to rewrite them. */
  cacheDir?: string
}

export interface ListedCode {
  /** The path of a module, or the name of an npm package. */
  code: string
  /** From 1; all other code is in group 0. */
  group: number
  /** The functions that are metered. Default: all. */
  functions?: readonly string[]
}

const meterFolder = new URL('.', import.meta.url).href
/** Without it, the meter would meter itself in a workload folder that contains it. */
const ourSources = fileURLToPath(new URL('..', import.meta.url))
const ownQuery = '?of-the-meter'

export const defaultMeter = { mode: 'work', formula: defaultFormula } as const

/** A module that was rewritten and not taken from the cache, or could not be rewritten. */
export interface RewrittenModule {
  readonly url: string
  readonly source: string
  readonly metered: boolean
}

/** Meters all modules that this thread loads from now on. */
export function meterModules(
  options: MeterOptions,
  rewrote: (module: RewrittenModule) => void = () => {},
): MeterRuntime {
  const runtime = installRuntime(options.formula)
  // Corrects the columns in stack traces. Costs 4 ms at start and 2 ms at the first stack trace.
  setSourceMapsSupport(true, { nodeModules: false, generatedCode: false })
  const key = JSON.stringify([meterVersion, options.mode, options.formula])
  registerHooks({
    // If workloads use a package that the meter needs, the meter loads an unmetered copy of it.
    resolve(specifier, context, nextResolve) {
      const resolved = nextResolve(specifier, context)
      const { parentURL = '' } = context
      const own =
        parentURL.endsWith(ownQuery) || parentURL.slice(0, parentURL.lastIndexOf('/') + 1) === meterFolder
      const shared = own && packageOf(resolved.url) && isMetered(resolved.url, options)
      return shared ? { ...resolved, url: resolved.url + ownQuery } : resolved
    },
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context)
      if (!isJavaScript(url, loaded.format) || !isMetered(url, options)) return loaded
      const source = loaded.source ? textOf(loaded.source) : readFileSync(fileURLToPath(url), 'utf8')
      // Stack traces name the original of a copy, and all versions of a module share one entry of the cache.
      const original = originalPath(url)
      const listed = listedAs(url, options)
      const functions = listed?.functions ?? []
      const cacheKey = `${key}${loaded.format}\0${original}${functions.map((name) => `#${name}`).join('')}`
      const rewritten = cached(options.cacheDir, cacheKey, source, () => {
        const kept = rewriteNow(source, original, loaded.format ?? 'unknown', options, listed)
        rewrote({ url, source, metered: kept !== undefined })
        return kept
      })
      if (!rewritten) return loaded
      const code = withIndices(rewritten, runtime, listed?.group ?? 0)
      return code === undefined ? loaded : { format: rewritten.format, source: code, shortCircuit: true }
    },
  })
  return runtime
}

/** A module loaded by `require` may have no format yet. Like Node, the meter then tries CommonJS first. */
function isJavaScript(url: string, format: string | null | undefined): boolean {
  if (format) return /^(module|commonjs|(module-|commonjs-)?typescript)$/.test(format)
  return /\/[^/.]+$|\.js$/.test(new URL(url).pathname)
}

export function isMetered(
  url: string,
  { folders, packages, except = [] }: Pick<MeterOptions, 'folders' | 'packages' | 'except'>,
): boolean {
  if (!url.startsWith('file:')) return false
  if (url.endsWith(ownQuery)) return false
  const path = fileURLToPath(url)
  if (except.includes(path)) return false
  const name = packageOf(url)
  if (name !== undefined && packages.includes(name)) return true
  return folders.some((folder) => {
    const root = folder.endsWith(sep) ? folder : folder + sep
    if (!path.startsWith(root)) return false
    // The folder may itself be part of an npm package, as that of the bundled workloads is.
    if (path.slice(root.length - 1).includes(`${sep}node_modules${sep}`)) return false
    // A workload beside Plimsoll's own sources does not make them part of its work.
    return !(ourSources.startsWith(root) && path.startsWith(ourSources))
  })
}

function listedAs(url: string, { listed = [] }: Pick<MeterOptions, 'listed'>): ListedCode | undefined {
  if (listed.length === 0) return undefined
  const path = fileURLToPath(url)
  const name = packageOf(url)
  return listed.find(({ code }) => code === path) ?? listed.find(({ code }) => code === name)
}

/** The name of the npm package that contains a module, if any. */
function packageOf(url: string): string | undefined {
  const inside = url.lastIndexOf('/node_modules/')
  if (inside < 0) return undefined
  const [scope, name] = decodeURIComponent(url.slice(inside + '/node_modules/'.length)).split('/')
  return scope!.startsWith('@') ? `${scope}/${name}` : scope
}

interface MeteredCode {
  code: string
  format: 'module' | 'commonjs'
  regions: Tally[]
}

/** Loads the parser and the rewriter only when a module has to be rewritten. */
function rewriteNow(
  source: string,
  url: string,
  format: string,
  { mode, formula }: MeterOptions,
  listed?: ListedCode,
): MeteredCode | undefined {
  const load = createRequire(import.meta.url)
  const end = extname(import.meta.url)
  const { rewrite } = load(`./rewrite${end}`) as typeof import('./rewrite.ts')
  const { stripTypes } = load(`./strip-types${end}`) as typeof import('./strip-types.ts')
  const plain = format.endsWith('typescript') ? stripTypes(source) : source
  let failure: unknown
  for (const sourceType of ['commonjs', 'module'] as const) {
    if (format.startsWith(sourceType === 'module' ? 'commonjs' : 'module')) continue
    try {
      const rewritten = rewrite(plain, {
        ...{ mode, formula, sourceType, file: url },
        ...(listed?.functions && { functions: listed.functions }),
      })
      if (!rewritten) return undefined
      // Line numbers do not change; correct columns matter only in the author's own files.
      const map = packageOf(url) ? '' : `//# sourceMappingURL=${rewritten.map().toUrl()}\n`
      return { code: `${rewritten.code}\n${map}`, format: sourceType, regions: rewritten.regions }
    } catch (error) {
      failure ??= error
    }
  }
  // The file is loaded unchanged, and Node reports the syntax error, if it is one.
  console.error(`meter: ${url} is not metered: ${(failure as Error).message}`)
  return undefined
}

/**
 * Regions are numbered from 0 in each file; this replaces the numbers by indices that are unique in the group, and the
 * names by those of the group.
 */
function withIndices(
  { code, regions }: MeteredCode,
  runtime: MeterRuntime,
  group: number,
): string | undefined {
  const named = group === 0 ? code : code.replaceAll(prefix, prefixOf(group))
  const base = runtime.addRegions(regions, group)
  if (regions.length === 0) return named
  if (base === undefined) return undefined
  // Padded to the width of the mark, so that the columns of the source map stay correct.
  return named.replace(regionMarks, (mark, index: string) => String(base + Number(index)).padEnd(mark.length))
}

/**
 * The result of `make`, or the cached result. A cache that cannot be read or written is ignored. Sources are compared as
 * a whole, because loading a hash function takes a tenth of a slot's start-up time.
 */
function cached(
  dir: string | undefined,
  key: string,
  source: string,
  make: () => MeteredCode | undefined,
): MeteredCode | undefined {
  if (dir === undefined) return make()
  const file = join(dir, `${nameOf(key)}.json`)
  try {
    const entry = JSON.parse(readFileSync(file, 'utf8')) as {
      key: string
      source: string
      kept?: MeteredCode
    }
    if (entry.key === key && entry.source === source) return entry.kept
  } catch {}
  const kept = make()
  try {
    mkdirSync(dir, { recursive: true })
    const draft = `${file}.${process.pid}`
    writeFileSync(draft, JSON.stringify({ key, source, kept }))
    renameSync(draft, file)
  } catch {}
  return kept
}

/** Keys with the same file name only overwrite each other's entries. */
function nameOf(key: string): string {
  let [a, b] = [0x811c9dc5, 0]
  for (let i = 0; i < key.length; i++) {
    a = Math.imul(a ^ key.charCodeAt(i), 0x01000193)
    b = Math.imul(b + a, 0x85ebca6b) ^ (b >>> 13)
  }
  return `${(a >>> 0).toString(16)}-${(b >>> 0).toString(16)}`
}

function textOf(source: string | ArrayBuffer | NodeJS.TypedArray): string {
  if (typeof source === 'string') return source
  return new TextDecoder().decode(source)
}

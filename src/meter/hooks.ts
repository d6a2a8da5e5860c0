/** Meters modules as they are loaded: those of the workloads' folders, and of the packages that they name. */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { createRequire, registerHooks, setSourceMapsSupport } from 'node:module'
import { join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { MeterMode } from '../model/metering.ts'
import { defaultFormula, type Formula, type Tally } from '../model/metrics.ts'
import { regionMarks } from './counting.ts'
import { installRuntime, type MeterRuntime } from './runtime.ts'

/** Changes whenever the same code would be counted differently: what was learned before is no longer comparable. */
export const meterVersion = 3

export interface MeterOptions {
  mode: MeterMode
  formula: Formula
  /** Folders whose modules are metered, packages inside them apart. */
  folders: string[]
  /** npm packages that are metered too. */
  packages: string[]
  /** Files of those folders that are not. */
  except?: string[]
  /** Where rewritten modules are kept, so that only the first process has to rewrite them. */
  cacheDir?: string
}

const ownFolder = new URL('.', import.meta.url).href
const ownMark = '?of-the-meter'

export const defaultMeter = { mode: 'work', formula: defaultFormula } as const

/** A module that had to be rewritten anew, or could not be. */
export interface RewrittenModule {
  readonly url: string
  readonly source: string
  readonly metered: boolean
}

/** From now on, for this thread. */
export function meterModules(
  options: MeterOptions,
  rewrote: (module: RewrittenModule) => void = () => {},
): MeterRuntime {
  const runtime = installRuntime(options.formula)
  // A stack trace names the author's columns too, for 4 ms at the start and 2 ms at the first trace.
  setSourceMapsSupport(true, { nodeModules: false, generatedCode: false })
  const key = JSON.stringify([meterVersion, options.mode, options.formula])
  registerHooks({
    // The meter's own parts are other modules than those of the workloads, even if both use the same package.
    resolve(specifier, context, nextResolve) {
      const resolved = nextResolve(specifier, context)
      const { parentURL = '' } = context
      const own =
        parentURL.endsWith(ownMark) || parentURL.slice(0, parentURL.lastIndexOf('/') + 1) === ownFolder
      const shared = own && packageOf(resolved.url) && isMetered(resolved.url, options)
      return shared ? { ...resolved, url: resolved.url + ownMark } : resolved
    },
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context)
      if (!isJavaScript(url, loaded.format) || !isMetered(url, options)) return loaded
      const source = loaded.source ? textOf(loaded.source) : readFileSync(fileURLToPath(url), 'utf8')
      const rewritten = cached(options.cacheDir, `${key}${loaded.format}\0${url}`, source, () => {
        const kept = rewriteNow(source, url, loaded.format ?? 'unknown', options)
        rewrote({ url, source, metered: kept !== undefined })
        return kept
      })
      if (!rewritten) return loaded
      const code = placed(rewritten, runtime)
      return code === undefined ? loaded : { format: rewritten.format, source: code, shortCircuit: true }
    },
  })
  return runtime
}

/** What `require` finds may have no format yet: then it is CommonJS if it can be, like Node has it. */
function isJavaScript(url: string, format: string | null | undefined): boolean {
  if (format) return /^(module|commonjs|(module-|commonjs-)?typescript)$/.test(format)
  return /\/[^/.]+$|\.js$/.test(new URL(url).pathname)
}

export function isMetered(
  url: string,
  { folders, packages, except = [] }: Pick<MeterOptions, 'folders' | 'packages' | 'except'>,
): boolean {
  if (!url.startsWith('file:')) return false
  if (url.endsWith(ownMark)) return false
  const name = packageOf(url)
  if (name !== undefined) return packages.includes(name)
  const path = fileURLToPath(url)
  if (except.includes(path)) return false
  return folders.some((folder) => path.startsWith(folder.endsWith(sep) ? folder : folder + sep))
}

/** The npm package that a module belongs to, if any. */
function packageOf(url: string): string | undefined {
  const inside = url.lastIndexOf('/node_modules/')
  if (inside < 0) return undefined
  const [scope, name] = decodeURIComponent(url.slice(inside + '/node_modules/'.length)).split('/')
  return scope!.startsWith('@') ? `${scope}/${name}` : scope
}

interface Kept {
  code: string
  format: 'module' | 'commonjs'
  regions: Tally[]
}

/** The parser and its company are loaded only where there is something to rewrite. */
function rewriteNow(
  source: string,
  url: string,
  format: string,
  { mode, formula }: MeterOptions,
): Kept | undefined {
  const require = createRequire(import.meta.url)
  const { rewrite } = require('./rewrite.ts') as typeof import('./rewrite.ts')
  const { stripTypes } = require('./strip.ts') as typeof import('./strip.ts')
  const plain = format.endsWith('typescript') ? stripTypes(source) : source
  let failure: unknown
  for (const sourceType of ['commonjs', 'module'] as const) {
    if (format.startsWith(sourceType === 'module' ? 'commonjs' : 'module')) continue
    try {
      const rewritten = rewrite(plain, { mode, formula, sourceType, file: url })
      if (!rewritten) return undefined
      // Lines are the same anyway; columns matter to authors, in their own files.
      const map = packageOf(url) ? '' : `//# sourceMappingURL=${rewritten.map().toUrl()}\n`
      return { code: `${rewritten.code}\n${map}`, format: sourceType, regions: rewritten.regions }
    } catch (error) {
      failure ??= error
    }
  }
  // Node has the last word on syntax: the file runs as it is, or Node says what is wrong with it.
  console.error(`meter: ${url} is not metered: ${(failure as Error).message}`)
  return undefined
}

/** Regions are numbered from 0 in each file; here they get their places among all. */
function placed({ code, regions }: Kept, runtime: MeterRuntime): string | undefined {
  if (regions.length === 0) return code
  const base = runtime.place(regions)
  if (base === undefined) return undefined
  // As wide as the mark was, so that columns are still those of the source map.
  return code.replace(regionMarks, (mark, index: string) => String(base + Number(index)).padEnd(mark.length))
}

/**
 * What `make` gives, from the cache if it is there; a cache that cannot be read or written is as good as none. What
 * was made of which source is compared as a whole: to load a hash function takes a tenth of a slot's start.
 */
function cached(
  dir: string | undefined,
  key: string,
  source: string,
  make: () => Kept | undefined,
): Kept | undefined {
  if (dir === undefined) return make()
  const file = join(dir, `${nameOf(key)}.json`)
  try {
    const entry = JSON.parse(readFileSync(file, 'utf8')) as { key: string; source: string; kept?: Kept }
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

/** Two that get the same name only write over each other. */
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

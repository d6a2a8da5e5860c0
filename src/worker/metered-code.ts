/** Finds the code that is metered: packages, files that need no counters, and modules of workloads that count only some. */
import { readFileSync, realpathSync } from 'node:fs'
import { basename, dirname, extname, relative, sep } from 'node:path'
import { ConfigError } from '../lib/errors.ts'
import type { ListedCode } from '../meter/hooks.ts'
import { mostGroups } from '../meter/names.ts'
import { sourcesOf } from '../workload/code-hash.ts'

export interface MeteredCode {
  /** npm packages that at least one workload wants metered; they are metered for all. */
  packages?: readonly string[]
  /** Files that are not metered, because no workload that uses them counts them. */
  except?: readonly string[]
  /** Modules that a workload lists. Those listed by the same workloads form a group. */
  listed?: readonly ListedCode[]
  /** Groups whose work counts, by workloads that list modules. Other workloads count all. */
  groups?: Readonly<Record<string, readonly number[]>>
}

/** A module of workloads, and what its jobs count. */
export interface MeteredFile {
  file: string
  /** True: its workloads count steps in place of code. */
  bySteps: boolean
  /** By workload: what it lists. Undefined: all its code counts. */
  lists: Readonly<Record<string, readonly string[] | undefined>>
  packages: readonly string[]
}

/** Rejects names of modules and functions that the workload does not have. */
export async function meteredCode(files: readonly MeteredFile[]): Promise<Omit<MeteredCode, 'packages'>> {
  if (files.every(({ bySteps, lists }) => !bySteps && Object.values(lists).every((list) => !list))) return {}
  const used: { file: MeteredFile; paths: readonly string[] }[] = []
  for (const file of files) used.push({ file, paths: [...(await sourcesOf(file.file)).keys()].map(realPath) })
  const byCode = new Map<string, { workloads: Set<string>; functions: Set<string>; isWhole: boolean }>()
  for (const { file, paths } of used) {
    for (const [workload, list = []] of Object.entries(file.lists)) {
      for (const entry of list) {
        const { code, name } = await find(entry, workload, file, paths)
        const known = byCode.get(code) ?? { workloads: new Set(), functions: new Set(), isWhole: false }
        byCode.set(code, known)
        known.workloads.add(workload)
        if (name === undefined) known.isWhole = true
        else known.functions.add(name)
      }
    }
  }
  const needed = new Set(used.flatMap(({ file, paths }) => (countsAll(file) ? paths : [])))
  for (const code of byCode.keys()) needed.add(code)
  const except = new Set(used.flatMap(({ paths }) => paths.filter((path) => !needed.has(path))))
  return { except: [...except], ...grouped(byCode) }
}

function countsAll({ bySteps, lists }: MeteredFile): boolean {
  return !bySteps && Object.values(lists).some((list) => !list)
}

/** Modules listed by the same workloads share counters. */
function grouped(
  byCode: ReadonlyMap<string, { workloads: Set<string>; functions: Set<string>; isWhole: boolean }>,
): Pick<MeteredCode, 'listed' | 'groups'> {
  const audiences: string[] = []
  const groups: Record<string, number[]> = {}
  const listed = [...byCode].map(([code, { workloads, functions, isWhole }]): ListedCode => {
    const audience = JSON.stringify([...workloads].sort())
    if (!audiences.includes(audience)) {
      audiences.push(audience)
      for (const workload of workloads) groups[workload] = [...(groups[workload] ?? []), audiences.length]
    }
    const group = audiences.indexOf(audience) + 1
    return { code, group, ...(!isWhole && { functions: [...functions].sort() }) }
  })
  if (audiences.length > mostGroups)
    throw new ConfigError(
      `meter.only: modules are listed by ${audiences.length} different sets of workloads; at most ${mostGroups} are supported`,
    )
  return { listed, groups }
}

/** What an entry of the list names: a module or a package, and possibly a function. */
async function find(
  entry: string,
  workload: string,
  { file, packages }: MeteredFile,
  paths: readonly string[],
): Promise<{ code: string; name?: string }> {
  const wrong = (must: string) => new ConfigError(`workload ${workload}: meter.only names ${entry}: ${must}`)
  const [module = '', name, ...more] = entry.split('#')
  if (more.length > 0 || name === '') throw wrong('must be MODULE or MODULE#FUNCTION')
  if (packages.includes(module)) {
    if (name !== undefined) throw wrong('functions of packages cannot be selected')
    return { code: module }
  }
  const folder = dirname(realPath(file))
  const asked = plain(module)
  const path = paths.find((each) => plain(relative(folder, each).split(sep).join('/')) === asked)
  if (path === undefined)
    throw wrong(`${basename(file)} imports no such module; it must be a path from its folder`)
  if (name === undefined) return { code: path }
  const [{ functionNames }, { stripTypes }] = await Promise.all([
    import('../meter/listed-functions.ts'),
    import('../meter/strip-types.ts'),
  ])
  const source = readFileSync(path, 'utf8')
  if (!functionNames(/ts$/.test(extname(path)) ? stripTypes(source) : source).has(name))
    throw wrong(`${module} has no function ${name}`)
  return { code: path, name }
}

/** Without the extension, which differs where a workload was compiled. */
function plain(module: string): string {
  return module.replace(/^\.\//, '').replace(/\.[cm]?[jt]s$/, '')
}

function realPath(path: string): string {
  return realpathSync(path)
}

/** Reads what must be known of the workloads' code before it runs: its hashes, and the packages to meter. */
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { ConfigError } from '../lib/errors.ts'
import { meterVersion } from '../meter/hooks.ts'
import type { MeterSetting } from '../model/metering.ts'
import { sourcesOf } from '../workload/code-hash.ts'
import { codeHash, loadWorkloads } from '../workload/workload.ts'

export interface Code {
  /** By workload. A hash includes how the code is metered, because work is only comparable if that is the same. */
  hashes: Record<string, string>
  /** npm packages that at least one workload wants metered; they are metered for all. */
  packages: string[]
  /** Time limits of jobs, by the workloads that have their own. */
  limits: Record<string, number>
  /** Files used only by workloads whose steps are counted instead of their code; they are not metered. */
  uncounted: string[]
}

export async function readCode(files: readonly string[], meter: MeterSetting): Promise<Code> {
  const own: { name: string; hash: string }[] = []
  const steps = meter === 'off' ? {} : (meter.steps ?? {})
  const bySteps: string[] = []
  const versions = new Map<string, string>()
  const limits: Record<string, number> = {}
  for (const file of files) {
    const hash = await codeHash(file)
    const workloads = await loadWorkloads([file])
    if (workloads.every(({ name }) => steps[name])) bySteps.push(file)
    for (const workload of workloads) {
      own.push({ name: workload.name, hash })
      if (workload.limitMs !== undefined) limits[workload.name] = workload.limitMs
      for (const name of workload.meter.packages)
        versions.set(name, packageVersion(name, file, workload.name))
    }
  }
  const packages = [...versions.keys()].sort()
  const how = meter === 'off' ? 'off' : howMetered(meter, packages, versions)
  const hashes = own.map(({ name, hash }) => [
    name,
    createHash('sha256')
      .update(`${hash}\0${how}${steps[name] ? JSON.stringify(steps[name]) : ''}`)
      .digest('hex'),
  ])
  return { hashes: Object.fromEntries(hashes), packages, limits, uncounted: await onlyOf(bySteps, files) }
}

/** The files and their imports, without modules that other workloads also import. */
async function onlyOf(some: readonly string[], all: readonly string[]): Promise<string[]> {
  if (some.length === 0) return []
  const pathsOf = async (file: string) => [...(await sourcesOf(file)).keys()]
  const others = all.filter((file) => !some.includes(file))
  const shared = new Set((await Promise.all(others.map(pathsOf))).flat())
  const own = (await Promise.all(some.map(pathsOf))).flat()
  return own.filter((path) => !shared.has(path)).map((path) => realpathSync(path))
}

function howMetered(
  { mode, formula }: Exclude<MeterSetting, 'off'>,
  packages: readonly string[],
  versions: ReadonlyMap<string, string>,
): string {
  const terms = Object.entries(formula)
    .filter(([, coefficient]) => coefficient !== 0)
    .sort()
  return JSON.stringify([meterVersion, mode, terms, packages.map((name) => [name, versions.get(name)])])
}

/** The version of the package that a file would import by this name. */
function packageVersion(name: string, file: string, workload: string): string {
  const from = dirname(resolve(file))
  for (let folder = from, last = ''; folder !== last; last = folder, folder = dirname(folder)) {
    const found = join(folder, 'node_modules', name, 'package.json')
    if (existsSync(found)) return (JSON.parse(readFileSync(found, 'utf8')) as { version: string }).version
  }
  throw new ConfigError(
    `workload ${workload}: meter.packages names ${name}: no such package in node_modules of ${from} or its parent folders`,
  )
}

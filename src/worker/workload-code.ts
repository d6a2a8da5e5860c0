/** Reads what must be known of the workloads' code before it runs: its hashes, and the packages to meter. */
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { ConfigError } from '../lib/errors.ts'
import { meterVersion } from '../meter/hooks.ts'
import type { MeterSetting } from '../model/metering.ts'
import { codeHash, loadWorkloads } from '../workload/load.ts'
import { type MeteredCode, type MeteredFile, meteredCode } from './metered-code.ts'

export interface Code {
  /** By workload. A hash includes how the code is metered, because work is only comparable if that is the same. */
  hashes: Record<string, string>
  /** Time limits of jobs, by the workloads that have their own. */
  limits: Record<string, number>
  metered: MeteredCode
}

export async function readCode(files: readonly string[], meter: MeterSetting): Promise<Code> {
  const own: { name: string; hash: string; only: readonly string[] | undefined }[] = []
  const { steps = {}, only = {} } = meter === 'off' ? {} : meter
  const metered: MeteredFile[] = []
  const versions = new Map<string, string>()
  const limits: Record<string, number> = {}
  for (const file of files) {
    const hash = await codeHash(file)
    const workloads = await loadWorkloads([file])
    const lists: Record<string, readonly string[] | undefined> = {}
    for (const workload of workloads) {
      const list = only[workload.name] ?? workload.meter.only
      lists[workload.name] = list
      own.push({ name: workload.name, hash, only: list })
      if (workload.limitMs !== undefined) limits[workload.name] = workload.limitMs
      for (const name of workload.meter.packages)
        versions.set(name, packageVersion(name, file, workload.name))
    }
    const packages = workloads.flatMap((workload) => workload.meter.packages)
    metered.push({ file, bySteps: workloads.every(({ name }) => steps[name]), lists, packages })
  }
  const packages = [...versions.keys()].sort()
  const how = meter === 'off' ? 'off' : howMetered(meter, packages, versions)
  const choice = (name: string, list: readonly string[] | undefined) => {
    if (meter === 'off') return ''
    return `${steps[name] ? JSON.stringify(steps[name]) : ''}${list ? JSON.stringify([...list].sort()) : ''}`
  }
  const hashes = own.map(({ name, hash, only: list }) => [
    name,
    createHash('sha256')
      .update(`${hash}\0${how}${choice(name, list)}`)
      .digest('hex'),
  ])
  const rest = meter === 'off' ? {} : await meteredCode(metered)
  return { hashes: Object.fromEntries(hashes), limits, metered: { packages, ...rest } }
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

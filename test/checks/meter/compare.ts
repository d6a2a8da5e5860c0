/** Runs a suite unmetered in one process and metered in others, and finds outputs that differ. */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { MeterMode } from '../../../src/model/metering.ts'
import type { ChildResult, ChildTask } from './child.ts'

export interface Comparison {
  suite: string
  cases: number
  lines: number
  modules: number
  /** Only known from mode `regions`. */
  regions?: number
  regionsRun?: number
  plainMs: number
  /** In mode `work`. */
  meteredMs: number
  differences: string[]
}

export async function compare(suite: string, modes: readonly MeterMode[]): Promise<Comparison> {
  const plain = await run({ suite })
  const found: Comparison = {
    suite,
    cases: Object.keys(plain.digests).length,
    lines: 0,
    modules: 0,
    plainMs: plain.ms,
    meteredMs: 0,
    differences: [],
  }
  for (const mode of modes) {
    const metered = await run({ suite, mode })
    found.differences.push(...differences(plain, metered).map((each) => `${suite}, mode ${mode}: ${each}`))
    found.lines = Math.max(found.lines, metered.lines)
    found.modules = Math.max(found.modules, metered.modules)
    if (mode === 'work') found.meteredMs = metered.ms
    if (mode === 'regions') Object.assign(found, { regions: metered.regions, regionsRun: metered.regionsRun })
  }
  return found
}

/** A module that was not metered counts as a difference, because its outputs prove nothing. */
function differences(plain: ChildResult, metered: ChildResult): string[] {
  const found = metered.unmetered.map((url) => `${url} was not metered`)
  if (metered.lines === 0) found.push('nothing was metered')
  for (const name of new Set([...Object.keys(plain.digests), ...Object.keys(metered.digests)])) {
    if (plain.digests[name] !== metered.digests[name]) found.push(`${name} differs`)
  }
  return found
}

async function run(task: ChildTask): Promise<ChildResult> {
  const child = join(import.meta.dirname, 'child.ts')
  const options = { maxBuffer: 2 ** 26, timeout: 600_000, env: { ...process.env, NODE_NO_WARNINGS: '1' } }
  const { stdout } = await promisify(execFile)(process.execPath, [child, JSON.stringify(task)], options)
  return JSON.parse(stdout) as ChildResult
}

/** Where the CPU time goes: a CPU profile of every process and thread of Plimsoll under load. */
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { significant, table } from '../../src/cli/terminal/table.ts'
import { upstream } from '../own/started.ts'
import { cells, measureCell } from './measure.ts'
import { processesOf, type Role } from './process-times.ts'
import { type Profile, type SelfTime, selfTimes } from './self-times.ts'
import { type Name, type System, startSystem } from './systems.ts'

export const profiled: readonly Name[] = ['own-64', 'workload']
const warmSeconds = 4
const rowsPerTable = 16
/** Time for all processes to write their profiles. */
const writeMs = 3_000

export interface ProfileOptions {
  folder: string
  direct: System & { port: number }
  /** Where the profiles stay. */
  into: string
  seconds: number
  chosen: readonly Name[]
  signal: AbortSignal
}

/** Returns CPU µs per request by process. */
export async function profileSystems(
  systems: System[],
  { folder, direct, into, seconds, chosen, signal }: ProfileOptions,
): Promise<Record<string, Record<string, number>>> {
  const found: Record<string, Record<string, number>> = {}
  for (const name of profiled.filter((each) => chosen.includes(each))) {
    const profiles = resolve(into, name)
    rmSync(profiles, { recursive: true, force: true })
    mkdirSync(profiles, { recursive: true })
    const env = { ...process.env, NODE_OPTIONS: `--import=${profilerAddress(profiles)}` }
    const flags = ['--pass-env', 'NODE_OPTIONS']
    const system = await startSystem(name, { folder, upstreamPort: direct.port, env, flags })
    if (!system) continue
    systems.push(system)
    await measureCell(system, 'c64', warmSeconds, { direct, signal })
    await writeProfiles(system, signal)
    for (const file of readdirSync(profiles)) rmSync(join(profiles, file))
    const { requests, perSecond, byRole } = await measureCell(system, 'c64', seconds, { direct, signal })
    const roles = await writeProfiles(system, signal)
    console.log(`${name}, ${cells.c64.title}, profiled: ${significant(perSecond)} requests a second\n`)
    for (const [role, { cpuMs }] of byRole)
      printTimes(role, timesOf(role, profiles, roles), (cpuMs * 1000) / requests)
    found[name] = Object.fromEntries(
      [...byRole].map(([role, { cpuMs }]) => [role, Math.round((cpuMs * 1000) / requests)]),
    )
    await system.stop()
  }
  return found
}

function profilerAddress(profiles: string): string {
  const address = pathToFileURL(join(import.meta.dirname, 'profiler.mjs'))
  address.searchParams.set('folder', profiles)
  address.searchParams.set('except', upstream)
  return address.href
}

/** Returns the processes that write. */
async function writeProfiles(system: System, signal: AbortSignal): Promise<Map<number, Role>> {
  const roles = processesOf(system.pid)
  for (const [pid, role] of roles) if (role !== 'proxy') process.kill(pid, 'SIGUSR2')
  await delay(writeMs, undefined, { signal })
  return roles
}

/** Of all processes and threads with this role. The name of a profile begins with the process id. */
function timesOf(role: Role, profiles: string, roles: ReadonlyMap<number, Role>): SelfTime[] {
  return readdirSync(profiles)
    .filter((file) => roles.get(Number.parseInt(file, 10)) === role)
    .flatMap((file) => selfTimes(JSON.parse(readFileSync(join(profiles, file), 'utf8')) as Profile))
}

/** Profiles include time in which another process had the core, so the shares are applied to the CPU time. */
function printTimes(role: Role, times: readonly SelfTime[], cpuUs: number): void {
  const sum = (some: readonly SelfTime[]) => some.reduce((all, { us }) => all + us, 0)
  const all = sum(times)
  if (all === 0) return
  const by = (key: 'file' | 'function' | 'caller', title: string) => {
    const rows = [...Map.groupBy(times, (time) => time[key])]
      .map(([what, some]) => ({ what, share: sum(some) / all }))
      .sort((a, b) => b.share - a.share)
      .slice(0, rowsPerTable)
      .map(({ what, share }) => [what, significant(share * cpuUs), `${(100 * share).toFixed(1)} %`])
    console.log(`${table([title, 'µs', 'share'], rows)}\n`)
  }
  by('file', `${role} (${significant(cpuUs)} µs a request): self time by file`)
  by('function', `${role}: self time by function`)
  by('caller', `${role}: with the Node and native code it calls`)
}

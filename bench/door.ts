/**
 * The price of a request: CPU time, rate and response times of Plimsoll's full path in front of a trivial server and of a
 * trivial workload, beside nginx, HAProxy, Envoy and proxies written in JavaScript in front of the same server.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { interruptible } from '../src/cli/terminal/interrupt.ts'
import { headline } from './door/figures.ts'
import { measureCell } from './door/measure.ts'
import { profileSystems } from './door/profile.ts'
import { measureRounds, type RoundOptions } from './door/rounds.ts'
import { printDrift, saturate } from './door/saturation.ts'
import { type Name, names, type System, startDirect, startSystem } from './door/systems.ts'
import { printTables } from './door/tables.ts'
import { hasWrk } from './door/wrk.ts'
import type { BenchOptions } from './options.ts'

const downloadBytes = 200_000_000

/** Undefined if one of the names is unknown. */
export function systemsNamed(list: string): Name[] | undefined {
  const chosen = list.split(',')
  return chosen.every((name) => (names as readonly string[]).includes(name)) ? (chosen as Name[]) : undefined
}

export async function door(options: BenchOptions): Promise<Record<string, unknown>> {
  if (!hasWrk()) throw new Error('wrk is absent; on Debian: apt-get install --no-install-recommends wrk')
  let figures: Record<string, unknown> = {}
  const code = await interruptible(async (signal) => {
    const folder = mkdtempSync(join(tmpdir(), 'plimsoll-door-'))
    const systems: System[] = []
    try {
      figures = await run(systems, folder, signal, options)
    } finally {
      await Promise.all(systems.map((system) => system.stop()))
      rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
    }
    return 0
  })
  if (code !== 0) process.exit(code)
  return figures
}

async function run(
  systems: System[],
  folder: string,
  signal: AbortSignal,
  { quick, rounds = quick ? 2 : 5, seconds = quick ? 1 : 3, only, profile, after }: BenchOptions,
): Promise<Record<string, unknown>> {
  const chosen = only === undefined ? names : systemsNamed(only)!
  const direct = await startDirect()
  systems.push(direct)
  if (profile !== undefined) {
    const parts = { folder, direct, chosen, signal, into: profile, seconds: Math.max(seconds, 5) }
    return profileSystems(systems, parts)
  }
  for (const name of names) {
    if (name === 'direct' || !chosen.includes(name)) continue
    signal.throwIfAborted()
    const system = await startSystem(name, { folder, upstreamPort: direct.port })
    if (system) systems.push(system)
  }
  const options: RoundOptions = { rounds, seconds, downloadBytes, signal }
  await warmUp(systems, options)
  let measured = await measureRounds(systems, options)
  if (after !== undefined) {
    const { rounds: before } = measured
    await saturate(systems, after, signal)
    measured = await measureRounds(systems, options)
    printDrift(
      before,
      measured.rounds,
      systems.map(({ name }) => name),
    )
  }
  printTables(measured, systems, downloadBytes)
  return headline(measured.rounds)
}

/** The first requests are slow, until code is compiled and slots have started. */
const warmRequests = 3_000
const mostWarmLoads = 5

async function warmUp(systems: readonly System[], { seconds, signal }: RoundOptions): Promise<void> {
  const direct = systems[0]!
  for (const system of systems) {
    for (let load = 0, sent = 0; load < mostWarmLoads && sent < warmRequests; load++)
      sent += (await measureCell(system, 'c64', Math.max(2, seconds), { direct, signal })).requests
  }
}

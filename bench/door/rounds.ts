/** Interleaved rounds: every cell of every system once a round, so that a slow minute of the machine hits all alike. */

import { canLimitCpu, limitCpu } from './cpu-limits.ts'
import {
  type CellFigures,
  type CellName,
  cellNames,
  measureCell,
  measureDownload,
  measureLone,
} from './measure.ts'
import { processesOf, type Role } from './process-times.ts'
import type { Name, System } from './systems.ts'

export interface SystemFigures {
  cells: Map<CellName, CellFigures>
  loneMs?: number
  /** Requests per second while each of its fronts, or processes, has a tenth of a core. */
  limitedPerSecond?: number
  downloadMs?: number
}
export type Round = ReadonlyMap<Name, SystemFigures>

export interface RoundOptions {
  rounds: number
  seconds: number
  downloadBytes: number
  signal: AbortSignal
}

export interface Measured {
  rounds: Round[]
  /** Runs whose answers were not all right, in words. */
  invalid: string[]
}

/** Measured with limits too, by the role of the processes that have them. */
const limitedRole: ReadonlyMap<Name, Role> = new Map([
  ['nginx', 'proxy'],
  ['nginx-2', 'proxy'],
  ['own-64', 'front'],
  ['own-64-2-fronts', 'front'],
])

/** Systems that only show what a second process adds. */
const oneCellOnly: ReadonlySet<Name> = new Set(['nginx-2', 'own-64-2-fronts'])

export async function measureRounds(systems: readonly System[], options: RoundOptions): Promise<Measured> {
  const { rounds: count, seconds, downloadBytes, signal } = options
  const direct = systems.find(({ name }) => name === 'direct')!
  const measured: Measured = { rounds: [], invalid: [] }
  const canLimit = systems.some(({ name }) => limitedRole.has(name)) && canLimitCpu()
  for (let index = 0; index < count; index++) {
    const round = new Map<Name, SystemFigures>(systems.map(({ name }) => [name, { cells: new Map() }]))
    // The order alternates, so that no system always follows the same one.
    const order = index % 2 === 0 ? systems : systems.toReversed()
    const each = async (what: string, act: (system: System, figures: SystemFigures) => Promise<void>) => {
      for (const system of order) {
        signal.throwIfAborted()
        try {
          await act(system, round.get(system.name)!)
        } catch (error) {
          signal.throwIfAborted()
          const line = `round ${index + 1}, ${system.name}, ${what}: ${(error as Error).message}`
          measured.invalid.push(line)
          console.error(`invalid: ${line}`)
        }
      }
    }
    for (const cell of cellNames)
      await each(cell, async (system, figures) => {
        if (cell !== 'c64' && oneCellOnly.has(system.name)) return
        figures.cells.set(cell, await measureCell(system, cell, seconds, { direct, signal }))
      })
    await each('limited', async (system, figures) => {
      const role = canLimit ? limitedRole.get(system.name) : undefined
      if (role) figures.limitedPerSecond = await measureLimited(system, role, { seconds, direct, signal })
    })
    await each('lone', async (system, figures) => {
      if (!oneCellOnly.has(system.name) && !system.body) figures.loneMs = await measureLone(system, signal)
    })
    await each('download', async (system, figures) => {
      if (system.name.startsWith('workload') || system.body || oneCellOnly.has(system.name)) return
      figures.downloadMs = await measureDownload(system, downloadBytes, signal)
    })
    measured.rounds.push(round)
    console.error(`round ${index + 1} of ${count} measured`)
  }
  return measured
}

/** Cores do not limit it: the load generator, the server and all other processes leave most of them idle. */
async function measureLimited(
  system: System,
  role: Role,
  { seconds, ...parts }: { seconds: number; direct: System; signal: AbortSignal },
): Promise<number> {
  const pids = [...processesOf(system.pid)].filter(([, its]) => its === role).map(([pid]) => pid)
  const end = limitCpu(pids)
  try {
    return (await measureCell(system, 'c64', seconds, parts)).perSecond
  } finally {
    end()
  }
}

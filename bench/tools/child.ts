/** Process that runs searches, metered in one way or not at all, on IPC messages of the benchmark. */
import { fileURLToPath } from 'node:url'
import { meterModules } from '../../src/meter/hooks.ts'
import type { MeterMode } from '../../src/model/metering.ts'
import type { Formula, Tally } from '../../src/model/metrics.ts'

export interface SearchCase {
  strategy: 'BFS' | 'DFS' | 'ASTAR'
  /** Side of the search area, which is the upper left corner of the map. */
  side: number
}

export interface ToolSetup {
  map: number
  mapSide: number
  /** Undefined: nothing is metered. */
  meter?: { mode: MeterMode; formula: Formula }
}

export interface SearchResult {
  /** The fastest of several searches: other programs on the machine only slow it down. */
  cpuMs: number
  work: number
  tally: Tally
  visited: number
}

/** A search is repeated for at least this long. */
const leastMs = 60

const { map, mapSide, meter } = JSON.parse(process.argv[2]!) as ToolSetup
const folder = fileURLToPath(new URL('../../workloads/hillclimb', import.meta.url))
const runtime = meter && meterModules({ ...meter, folders: [folder], packages: [] })
// Imported after that, so that the solver is metered.
const { questOf, strategies } = await import('./quest.ts')

process.on('message', ({ strategy, side }: SearchCase) => {
  const quest = questOf({ map, mapSide, side })
  const search = strategies[strategy]
  let result: SearchResult | undefined
  let [spentMs, fastestMs] = [0, Infinity]
  while (spentMs < leastMs) {
    const before = process.cpuUsage()
    runtime?.begin()
    const { visitedCells: visited } = search(quest)
    const [work, tally] = [runtime?.work() ?? 0, runtime?.tally() ?? {}]
    const { user, system } = process.cpuUsage(before)
    spentMs += (user + system) / 1000
    fastestMs = Math.min(fastestMs, (user + system) / 1000)
    result = { work, tally, visited, cpuMs: 0 }
  }
  process.send!({ ...result!, cpuMs: fastestMs })
})
process.on('disconnect', () => process.exit(0))
process.send!('ready')

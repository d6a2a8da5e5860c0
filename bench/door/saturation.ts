/** Does it stay as it was? A long saturation, with the memory of every process on the way. */
import { significant, table } from '../../src/cli/terminal/table.ts'
import { rssMb } from '../../src/worker/processes/proc.ts'
import { cell, type Key, over } from './figures.ts'
import { type CellFigures, type CellName, measureCell } from './measure.ts'
import { processesOf, type Role } from './process-times.ts'
import type { Round } from './rounds.ts'
import type { Name, System } from './systems.ts'

const parts = 10
/** Memory grows until caches and young generations are full; growth counts from this part of the time on. */
const settledPart = 3
const saturated: readonly Name[] = ['own-64', 'workload']

/** Memory of the processes of each role together, in MB. */
type Memory = ReadonlyMap<Role, { mb: number; processes: number }>

/** Saturates each of Plimsoll's systems in turn and prints what it needed on the way. */
export async function saturate(
  systems: readonly System[],
  seconds: number,
  signal: AbortSignal,
): Promise<void> {
  const direct = systems[0]!
  for (const system of systems.filter(({ name }) => saturated.includes(name))) {
    const memory: Memory[] = [memoryOf(system)]
    const figures: (CellFigures | undefined)[] = [undefined]
    for (let part = 0; part < parts; part++) {
      const length = Math.max(1, Math.round(seconds / parts))
      const measured = await measureCell(system, 'c64', length, { direct, signal }).catch((error: Error) => {
        signal.throwIfAborted()
        console.error(`invalid: ${system.name}, part ${part + 1} of the saturation: ${error.message}`)
        return undefined
      })
      figures.push(measured)
      memory.push(memoryOf(system))
    }
    print(system, seconds, memory, figures)
  }
}

function memoryOf({ pid }: System): Memory {
  const memory = new Map<Role, { mb: number; processes: number }>()
  for (const [each, role] of processesOf(pid)) {
    const { mb, processes } = memory.get(role) ?? { mb: 0, processes: 0 }
    memory.set(role, { mb: mb + (rssMb(each) ?? 0), processes: processes + 1 })
  }
  return memory
}

function print(
  { name }: System,
  seconds: number,
  memory: readonly Memory[],
  figures: readonly (CellFigures | undefined)[],
): void {
  const roles = [...new Set(memory.flatMap((each) => [...each.keys()]))].filter((role) => role !== 'proxy')
  const rows = memory.map((each, part) => [
    `${Math.round((part * seconds) / parts)} s`,
    ...roles.map((role) => {
      const { mb, processes } = each.get(role) ?? { mb: 0, processes: 0 }
      return `${significant(mb)}${processes > 1 ? ` (${processes})` : ''}`
    }),
    ...(['cpuUs', 'perSecond', 'p99Ms'] as const).map((key) =>
      figures[part] ? significant(figures[part][key]) : '–',
    ),
  ])
  const head = [`${name}, MB`, ...roles, 'CPU µs', 'per second', 'p99 ms']
  console.log(`${table(head, rows)}\n`)
  const growth = roles.map((role) => {
    const [before, after] = [memory[settledPart]!, memory.at(-1)!].map((each) => each.get(role))
    const change = (after?.mb ?? 0) / (after?.processes || 1) - (before?.mb ?? 0) / (before?.processes || 1)
    return `${role} ${change < 0 ? '−' : '+'}${significant(Math.abs(change))} MB`
  })
  const part = Math.round((100 * settledPart) / parts)
  console.log(`Growth of each process in the time after ${part} %: ${growth.join(', ')}\n`)
}

/** How the figures changed from the rounds before the saturation to those after it. */
export function printDrift(before: readonly Round[], after: readonly Round[], names: readonly Name[]): void {
  const keys: readonly Key[] = ['cpuUs', 'perSecond', 'p50Ms', 'p99Ms']
  const rows = names.flatMap((name) =>
    (['c1', 'c64'] as const satisfies CellName[]).map((cellName) => [
      name,
      cellName,
      ...keys.map((key) => {
        const [then, now] = [before, after].map((rounds) => over(rounds, cell(name, cellName, key)))
        return then === undefined || now === undefined ? '–' : `× ${(now / then).toFixed(2)}`
      }),
    ]),
  )
  console.log(`${table(['after ÷ before', '', 'CPU µs', 'per second', 'p50', 'p99'], rows, [0, 1])}\n`)
}

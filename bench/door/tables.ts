/** The figures for people to read. */
import { significant, table } from '../../src/cli/terminal/table.ts'
import { cell, downloadMs, type Figure, limitedPerSecond, loneMs, over } from './figures.ts'
import { type CellName, cellNames, cells } from './measure.ts'
import type { Role, Used } from './process-times.ts'
import type { Measured, Round } from './rounds.ts'
import { meanings, type Name, type System } from './systems.ts'

export function printTables({ rounds, invalid }: Measured, systems: readonly System[], bytes: number): void {
  const present = systems.map(({ name }) => name)
  const show = (figure: Figure) => {
    const value = over(rounds, figure)
    return value === undefined ? '–' : significant(value)
  }
  for (const cellName of cellNames) {
    const measured = present.filter((name) => over(rounds, cell(name, cellName, 'cpuUs')) !== undefined)
    const rows = measured.map((name) => [
      name,
      show(cell(name, cellName, 'cpuUs')),
      show(times(name, cellName)),
      show(cell(name, cellName, 'perSecond')),
      show(cell(name, cellName, 'p50Ms')),
      show(cell(name, cellName, 'p99Ms')),
      show(cell(name, cellName, 'otherCores')),
    ])
    const head = ['CPU µs', '÷ nginx', 'per second', 'p50 ms', 'p99 ms', 'cores of others']
    console.log(`${table([cells[cellName].title, ...head], rows)}\n`)
  }
  const rest = present.filter((name) => over(rounds, loneMs(name)) !== undefined)
  const perSecond =
    (name: Name): Figure =>
    (round) => {
      const ms = downloadMs(name)(round)
      return ms === undefined ? undefined : bytes / 1e3 / ms
    }
  const rows = rest.map((name) => [name, show(loneMs(name)), show(downloadMs(name)), show(perSecond(name))])
  console.log(`${table(['', 'lone request ms', `${bytes / 1e6} MB ms`, 'MB/s'], rows)}\n`)
  const limited = present.filter((name) => over(rounds, limitedPerSecond(name)) !== undefined)
  const limitedRows = limited.map((name) => [name, show(limitedPerSecond(name))])
  console.log(`${table(['a tenth of a core for each', 'per second'], limitedRows)}\n`)
  printRoles(rounds, present)
  console.log(present.map((name) => `${name}: ${meanings[name]}`).join('\n'))
  console.log(explanation(rounds.length))
  if (invalid.length > 0) console.log(`Invalid runs, left out:\n${invalid.join('\n')}\n`)
}

function times(name: Name, cellName: CellName): Figure {
  return (round) => {
    const nginx = cell('nginx', cellName, 'cpuUs')(round)
    const value = cell(name, cellName, 'cpuUs')(round)
    return nginx === undefined || value === undefined ? undefined : value / nginx
  }
}

const roles: readonly Role[] = ['supervisor', 'front', 'brain', 'worker', 'slot']

/** CPU time by process, of the systems of several processes. */
function printRoles(rounds: readonly Round[], present: readonly Name[]): void {
  const rows = present.flatMap((name) =>
    (['c1', 'c64'] as const).flatMap((cellName) => {
      const row = roles.map((role) => {
        const [all, kernel] = (['cpuMs', 'systemMs'] as const).map((key) =>
          over(rounds, ofRole(name, cellName, role, key)),
        )
        return all === undefined ? '–' : `${significant(all)} (${significant(kernel ?? 0)})`
      })
      return row.every((text) => text === '–') ? [] : [[name, cells[cellName].title, ...row]]
    }),
  )
  if (rows.length > 0) console.log(`${table(['CPU µs (kernel)', '', ...roles], rows, [0, 1])}\n`)
}

function ofRole(name: Name, cellName: CellName, role: Role, key: keyof Used): Figure {
  return (round) => {
    const figures = round.get(name)?.cells.get(cellName)
    const used = figures?.byRole.get(role)
    return used === undefined ? undefined : (used[key] * 1000) / figures!.requests
  }
}

function explanation(rounds: number): string {
  return `
wrk sends the requests, with 2 headers and for 100 bytes unless the title says otherwise. Medians of ${rounds} interleaved rounds;
ratios are medians of the ratios within a round. CPU µs: CPU time per request of all processes of the proxy, from /proc,
without the server's, and with those of slots. Lone request: median time of requests that come alone, 10 ms apart,
with the client's own time. A tenth of a core for each: 64 connections while each front, or process of nginx, has no more, so that
cores do not limit what a second one adds. Cores of others: kept busy by processes that are not part of the benchmark; above 0.2 the times
say little, and CPU times are too high.
`
}

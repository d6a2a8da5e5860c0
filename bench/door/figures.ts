/** Medians over the rounds, and medians of the ratios within each round. */
import { median } from '../../src/simulate/summary.ts'
import type { CellName } from './measure.ts'
import type { Round } from './rounds.ts'
import { type Name, nodeProxies } from './systems.ts'

export type Key = 'perSecond' | 'p50Ms' | 'p99Ms' | 'cpuUs' | 'otherCores'
/** One figure of one system; undefined if it was not measured in this round. */
export type Figure = (round: Round) => number | undefined

export const cell =
  (name: Name, cellName: CellName, key: Key): Figure =>
  (round) =>
    round.get(name)?.cells.get(cellName)?.[key]
export const loneMs =
  (name: Name): Figure =>
  (round) =>
    round.get(name)?.loneMs
export const downloadMs =
  (name: Name): Figure =>
  (round) =>
    round.get(name)?.downloadMs

export const limitedPerSecond =
  (name: Name): Figure =>
  (round) =>
    round.get(name)?.limitedPerSecond

/** Undefined if no round has it. */
export function over(rounds: readonly Round[], figure: Figure): number | undefined {
  const values = rounds.map(figure).filter((value) => value !== undefined)
  return values.length > 0 ? median(values) : undefined
}

function ratio(rounds: readonly Round[], of: Figure, to: Figure): number | null {
  const value = over(rounds, (round) => {
    const [above, below] = [of(round), to(round)]
    return above === undefined || below === undefined ? undefined : above / below
  })
  return value === undefined ? null : Number(value.toPrecision(3))
}

/** Figures of own_* are those of a program with concurrency 64. */
export function headline(rounds: readonly Round[]): Record<string, number | null> {
  const cpu = (name: Name) => cell(name, 'c64', 'cpuUs')
  const best = nodeProxies.toSorted(
    (a, b) => (over(rounds, cpu(a)) ?? Infinity) - (over(rounds, cpu(b)) ?? Infinity),
  )[0]!
  const ofNginx = (cellName: CellName, key: Key) =>
    ratio(rounds, cell('own-64', cellName, key), cell('nginx', cellName, key))
  const lone = over(rounds, loneMs('workload'))
  return {
    own_cpu_vs_nginx: ofNginx('c64', 'cpuUs'),
    own_cpu_vs_best_node_proxy: ratio(rounds, cpu('own-64'), cpu(best)),
    workload_cpu_vs_nginx: ratio(rounds, cpu('workload'), cpu('nginx')),
    own_p50_vs_nginx_c1: ofNginx('c1', 'p50Ms'),
    own_p99_vs_nginx_c64: ofNginx('c64', 'p99Ms'),
    download_vs_nginx: ratio(rounds, downloadMs('own-64'), downloadMs('nginx')),
    rps_2_fronts_vs_1: ratio(
      rounds,
      cell('own-64-2-fronts', 'c64', 'perSecond'),
      cell('own-64', 'c64', 'perSecond'),
    ),
    rps_2_fronts_vs_1_limited: ratio(rounds, limitedPerSecond('own-64-2-fronts'), limitedPerSecond('own-64')),
    rps_2_nginx_vs_1_limited: ratio(rounds, limitedPerSecond('nginx-2'), limitedPerSecond('nginx')),
    lone_overhead_ms: lone === undefined ? null : Number(lone.toPrecision(3)),
  }
}

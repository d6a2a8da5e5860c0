/** Compares scaling policies in virtual time: the cost of a day under the same promise. */

import { progressLine } from '../src/cli/terminal/progress.ts'
import { median } from '../src/simulate/summary.ts'
import type { BenchOptions } from './options.ts'
import * as plan from './scale/plan.ts'
import { cheapest, keeps, middle, type Result } from './scale/results.ts'
import type { Contender, Figures, Run } from './scale/run.ts'
import { nameOf, type Row, said, tableOf } from './scale/tables.ts'
import { meanLoad, type TrafficName } from './scale/traffic.ts'
import { runAll } from './threads.ts'

export async function scale({ quick }: BenchOptions): Promise<Record<string, unknown>> {
  const began = performance.now()
  const main = plan.mainTraffic()
  const days = plan.tuningDays(quick)
  const tuned = await tune(days, quick)
  console.log(
    `Cheapest targets that keep the promise on ${days.join(', ')}: ${tuned.map(nameOf).join(', ')}.`,
  )
  const hindsight = await tune([main], quick)
  console.log(`With hindsight, on ${main} itself: ${hindsight.map(nameOf).join(', ')}.\n`)
  const seeds = plan.seeds(quick)
  const contenders = [plan.ours, ...distinct([...tuned, ...hindsight]), plan.atPeak]
  const figures = await score(main, 60_000, seeds, contenders)
  if (!quick) {
    await score(main, 150_000, seeds, contenders)
    for (const traffic of plan.otherTraffic())
      for (const bootMs of [60_000, 150_000]) await score(traffic, bootMs, seeds.slice(0, 2), contenders)
  }
  console.log(
    `Mean load ${meanLoad} cores (the Azure traces at their recorded pace), workers of 2 cores, billed from launch to end; estimates are off by a lognormal factor of σ 0.5.\n` +
      `World Cup and daily arrivals have sizes drawn from the Azure Functions trace: arrivals and sizes come from different systems.\n` +
      `Promise: p99 slowdown at most 1.5 for the shortest 90 %, mean slowdown at most 1.5 for the largest 1 %. Reversal: a launch after\n` +
      `a scale-in, or a scale-in after a launch. hpa and kpa: the cheapest targets that keep the promise on the May days\n` +
      `and, beside them, with hindsight (how work-forecast was tuned: decisions/080-scaling.md); the best peer is the cheapest of all these.\n` +
      `Clairvoyant: knows every job beforehand; the smallest fleet that keeps the promise. Medians of\n` +
      `${seeds.length} seed${seeds.length > 1 ? 's' : ''} (traces other than the World Cup: at most 2).${main === 'daily' ? ' The recorded traces are missing: the seeded daily cycle replaces the World Cup.' : ''} ${((performance.now() - began) / 1000).toFixed(0)} s.\n`,
  )
  return figures
}

/** The cheapest targets of hpa and kpa that keep the promise on each of these days. */
async function tune(days: readonly TrafficName[], quick: boolean): Promise<Contender[]> {
  const peers = quick ? plan.fewerPeers : plan.peers
  const names = Object.keys(peers) as plan.Peer[]
  const runs = names.flatMap((policy) =>
    peers[policy].flatMap((target) =>
      days.map((traffic) => ({ ...plan.peer(policy, target), traffic, bootMs: 60_000, seed: 1 })),
    ),
  )
  const results = await all('tuning', runs)
  return names.map((policy) => {
    const byTarget = peers[policy].map((target) => {
      const ofTarget = results.filter(({ run }) => run.scale.policy === policy && run.scale.target === target)
      return { contender: plan.peer(policy, target), figures: worst(ofTarget.map(({ figures }) => figures)) }
    })
    return cheapest(byTarget)!.contender
  })
}

function distinct(contenders: readonly Contender[]): Contender[] {
  return [...new Map(contenders.map((one) => [nameOf(one), one])).values()]
}

/** Slowdowns of the worst day, and total costs. */
function worst(all: readonly Figures[]): Figures {
  const most = (name: 'shortP99Slowdown' | 'largestSlowdown') => Math.max(...all.map((one) => one[name]))
  return {
    ...middle(all),
    shortP99Slowdown: most('shortP99Slowdown'),
    largestSlowdown: most('largestSlowdown'),
  }
}

async function score(
  traffic: TrafficName,
  bootMs: number,
  seeds: readonly number[],
  contenders: readonly Contender[],
): Promise<Record<string, unknown>> {
  const where = `${traffic}, boot ${bootMs / 1000} s`
  const runs = seeds.flatMap((seed) => contenders.map((one): Run => ({ ...one, traffic, bootMs, seed })))
  const results = await all(where, runs)
  const known = await clairvoyant(where, { traffic, bootMs }, seeds)
  const rows = contenders.map(
    (contender, i): Row => ({
      contender,
      figures: middle(results.filter((_, at) => at % contenders.length === i).map(({ figures }) => figures)),
    }),
  )
  rows.push({ contender: known[0]!.run, figures: middle(known.map(({ figures }) => figures)) })
  console.log(tableOf(traffic, bootMs, rows))
  const mine = results.filter((_, at) => at % contenders.length === 0)
  const peers = rows.slice(1, -2).filter(({ figures }) => keeps(figures))
  const best = peers.length === 0 ? undefined : Math.min(...peers.map(({ figures }) => figures.workerHours))
  const ratio = (others: readonly number[]) =>
    round(median(mine.map(({ figures }, i) => figures.workerHours / others[i]!)))
  const { hours, reversals } = rows[0]!.figures
  return {
    worker_hours_vs_best_peer: best === undefined ? null : round(rows[0]!.figures.workerHours / best),
    worker_hours_vs_clairvoyant: ratio(known.map(({ figures }) => figures.workerHours)),
    promise_met: mine.every(({ figures }) => keeps(figures)),
    reversals_per_day: Math.round((reversals * 24) / hours),
  }
}

/** The smallest fleet of each seed that keeps the promise, tried two at a time from the smallest upwards. */
async function clairvoyant(
  where: string,
  on: Pick<Run, 'traffic' | 'bootMs'>,
  seeds: readonly number[],
): Promise<Result[]> {
  const found = new Map<number, Result>()
  for (let i = 0; i < plan.clairvoyants.length; i += 2) {
    const left = seeds.filter((seed) => !found.has(seed))
    if (left.length === 0) break
    const pair = plan.clairvoyants.slice(i, i + 2)
    const tried = await all(
      where,
      left.flatMap((seed) => pair.map((contender) => ({ ...contender, ...on, seed }))),
    )
    const isLast = i + 2 >= plan.clairvoyants.length
    for (const result of tried.reverse())
      if (keeps(result.figures) || isLast) found.set(result.run.seed, result)
  }
  return seeds.map((seed) => found.get(seed)!)
}

async function all(where: string, runs: readonly Run[]): Promise<Result[]> {
  const line = progressLine()
  const figures = await runAll<Run, Figures>(new URL('./scale/run.ts', import.meta.url), runs, (count) =>
    line.show(count / runs.length, `${where}: ${said(runs[count - 1]!)}`),
  )
  line.done()
  return runs.map((run, i) => ({ run, figures: figures[i]! }))
}

function round(value: number): number {
  return Math.round(value * 1000) / 1000
}

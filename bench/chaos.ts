/**
 * Processes of clusters are killed, frozen and starved at random, connections are cut, disks fill up and databases crash,
 * while clients send requests and hand in jobs: nothing that was accepted may be lost, wrong, or computed again after it
 * had ended. `--seed` draws what happens; how processes react to it depends on the machine.
 */

import { stream } from '../src/lib/random.ts'
import { Counts } from './chaos/harms.ts'
import { type OneMachine, oneMachine } from './chaos/one-machine.ts'
import type { PartResult } from './chaos/part.ts'
import { type TwoMachines, twoMachines } from './chaos/two-machines.ts'
import type { BenchOptions } from './options.ts'

const partsMs = (quick: boolean) => (quick ? [30_000, 30_000] : [300_000, 300_000])

export async function chaos({ quick, seed = 1 }: BenchOptions): Promise<Record<string, unknown>> {
  console.log(`seed ${seed}`)
  const [oneMs, twoMs] = partsMs(quick) as [number, number]
  const counts = new Counts()
  const first = stream(seed, 'one machine')
  const second = stream(seed, 'two machines')
  const one = await oneMachine(oneMs, () => first.next(), counts)
  show('one machine', one)
  const two = await twoMachines(twoMs, () => second.next(), counts)
  if (two) show('two machines', two)
  const result = total(one, two, counts)
  if (!isGood(result)) process.exitCode = 1
  return { seed, ...result }
}

function show(name: string, { sync, jobs, refusals, troubles }: PartResult): void {
  console.log(
    `${name}: ${sync.sent} requests, ${sync.right} answered right, ${sync.errors} errors (${sync.unexplained} without a broken connection); ` +
      `${jobs.accepted} jobs accepted, ${jobs.completed} completed; tried again: ${JSON.stringify(refusals)}`,
  )
  for (const trouble of troubles.slice(0, 20)) console.log(`  ${trouble}`)
}

function total(one: OneMachine, two: TwoMachines | undefined, counts: Counts) {
  const parts: PartResult[] = two ? [one, two] : [one]
  const sum = (of: (part: PartResult) => number) => parts.reduce((all, part) => all + of(part), 0)
  return {
    requests: sum(({ sync }) => sync.sent),
    answered: sum(({ sync }) => sync.right + sync.wrong),
    wrong: sum(({ sync, jobs }) => sync.wrong + jobs.wrong),
    lost: sum(({ jobs }) => jobs.accepted - jobs.completed),
    client_errors: sum(({ sync }) => sync.errors),
    client_errors_unexplained: sum(({ sync }) => sync.unexplained),
    client_errors_before_front_kills: one.calmErrors,
    kills: counts.kills,
    freezes: counts.freezes,
    starvations: counts.starvations,
    brain_kills: counts.killsOf.brain,
    front_kills: counts.killsOf.front,
    keeper_kills: counts.killsOf.keeper,
    full_disks: one.fullDisks,
    cuts_up: one.cuts.up,
    cuts_down: one.cuts.down,
    leader_kills: two?.machineKills ?? 0,
    standby_kills: two?.standbyKills ?? 0,
    database_crashes: two?.databaseCrashes ?? 0,
    database_cuts: two ? two.cuts.up + two.cuts.down : 0,
    take_overs_ms: two?.takeOversMs ?? [],
    async_accepted: sum(({ jobs }) => jobs.accepted),
    async_completed: sum(({ jobs }) => jobs.completed),
    async_refused: sum(({ jobs }) => jobs.refused),
    recomputed_after_finish: sum(({ recomputed }) => recomputed),
    max_rss_mb: Math.round(Math.max(...parts.map(({ maxRssMb }) => maxRssMb))),
    main_died: one.mainDied,
  }
}

/** With two fronts a client notices nothing unless its front is killed or its connection cut. */
function isGood(result: ReturnType<typeof total>): boolean {
  const { wrong, lost, recomputed_after_finish, client_errors_before_front_kills, main_died } = result
  const bad = wrong + lost + recomputed_after_finish + client_errors_before_front_kills
  return bad === 0 && !main_died && result.async_completed >= result.async_accepted
}

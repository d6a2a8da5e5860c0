/** A run with faults of every kind, drawn whole from a seed, in which all invariants are checked after every event. */

import { createHash } from 'node:crypto'
import { InvariantError } from '../lib/errors.ts'
import { disciplines } from '../model/discipline.ts'
import type { Counters } from '../model/view.ts'
import type { OwnPolicies } from '../systems/brain-spec.ts'
import type { SchedulerName } from '../systems/schedulers.ts'
import { settled } from './chaos-fleet.ts'
import { longestFunctionMs } from './chaos-functions.ts'
import { type ChaosScenario, drawScenario, type ScenarioOptions } from './chaos-scenario.ts'
import { rank } from './clock.ts'
import { Faults } from './faults.ts'
import { Invariants } from './invariants.ts'
import { StallInvariants } from './stall-invariants.ts'
import { endBrains } from './take-over.ts'
import { World } from './world.ts'

export interface ChaosResult {
  jobs: number
  results: number
  hungUp: number
  refused: number
  /** Of these, jobs that were shed. */
  shed: number
  unknown: number
  dropped: number
  retries: number
  /** Changes of precedence of jobs on workers. */
  ranked: number
  launches: number
  /** Failed launches, machines that nobody launched, and drained workers. */
  givenUp: number
  strangers: number
  drained: number
  /** Attempts in functions, and failed ones among them. */
  away: number
  awayFailed: number
  /** Assigned roles, denied requests to leave, and jobs dropped after their queue timeout. */
  roles: number
  stays: number
  late: number
  /** Pauses of the brain, silent workers that were not declared lost at once, and ejected workers. */
  pauses: number
  held: number
  ejected: number
  /** Attempts that were ended because they stood still, and workers that were drained for that. */
  stalled: number
  stallDrains: number
  /** Attempts that went on under another brain. */
  adopted: number
  /** SHA-256 of the event log, if asked for. */
  hash?: string
}

/** Virtual time in which everything must end after the last fault. */
const patienceMs = 2_000_000

export interface ChaosOptions extends ScenarioOptions {
  /** True: compute the hash of the event log. */
  hash?: boolean
  /** Policies in place of the scenario's. */
  policies?: OwnPolicies
  /** True: brains die, and others take over. */
  takeOver?: boolean
  /** Jobs that do not arrive, counted from 0. A failing run is repeated with fewer jobs. */
  leftOut?: ReadonlySet<number>
  /** Faults end by then, if not earlier. */
  faultsUntilMs?: number
  log?: (chunk: Uint8Array) => void
}

/** Throws an `InvariantError` if an invariant is violated. */
export function chaos(scheduler: SchedulerName, seed: number, options: ChaosOptions = {}): ChaosResult {
  const scenario = drawScenario(scheduler, seed, options)
  const takesOver = options.takeOver === true && mayTakeOver(scenario)
  if (takesOver) scenario.brain.limits = { ...scenario.brain.limits, recoverMs: 200 + (seed % 5) * 700 }
  const { brain, fleet, rates } = scenario
  rates.untilMs = Math.min(rates.untilMs, options.faultsUntilMs ?? Infinity)
  const faults = new Faults(rates, seed)
  const { bounded } = disciplines[brain.discipline]
  const functions = brain.overflow?.concurrency ?? Infinity
  // Machines that an earlier brain had given up may join the next one.
  const max = takesOver ? Infinity : scenario.max
  const checks = new Invariants({ bounded, max, functions, limits: brain.limits })
  const stalls = new StallInvariants(() => world.nodes, checks)
  const hash = options.hash ? createHash('sha256') : undefined
  const log = (chunk: Uint8Array) => {
    hash?.update(chunk)
    options.log?.(chunk)
  }
  const world: World = new World({
    ...{ brain, seed, fleet, faults },
    ...(options.policies && { policies: options.policies }),
    ...((hash || options.log) && { log }),
    observer: stalls,
  })
  world.begin()
  faults.begin(world)
  if (takesOver) endBrains(world, seed, rates.untilMs)
  const calmMs = Math.max(submitAll(world, scenario, options.leftOut), rates.untilMs)
  try {
    runToRest(world, calmMs)
  } finally {
    world.flushLog()
  }
  checks.finally(world.brain)
  checkRest(world, faults, scenario, calmMs)
  const { stalled, stallDrains } = stalls
  return {
    ...resultOf(world, checks, scenario.jobs),
    stalled,
    stallDrains,
    ...(hash && { hash: hash.digest('hex') }),
  }
}

/** Functions end with their brain, and roles are not handed over. */
function mayTakeOver({ brain }: ChaosScenario): boolean {
  return !brain.overflow && !brain.scale.tiers
}

/** Returns the time of the last arrival. */
function submitAll(world: World, scenario: ChaosScenario, leftOut?: ReadonlySet<number>): number {
  let last = 0
  let number = 0
  for (const { atMs, job, size, hangsUpAtMs, ...how } of scenario.drawJobs()) {
    if (leftOut?.has(number++)) continue
    world.clock.at(atMs, rank.arrival, () => world.submit(job, size, how))
    if (hangsUpAtMs !== undefined) world.clock.at(hangsUpAtMs, rank.arrival, () => world.hangUp(job.id))
    last = atMs
  }
  return last
}

/** Heartbeats never end, so the agenda never runs dry. All checks happen as events are handled. */
function runToRest(world: World, calmMs: number): void {
  while (world.clock.now < calmMs || world.truths.size > 0) if (!world.clock.step(calmMs + patienceMs)) break
  const restMs = world.clock.now + 30_000
  while (world.clock.step(restMs)) if (world.truths.size > 0) break
}

function checkRest(world: World, faults: Faults, { min, max }: ChaosScenario, calmMs: number): void {
  settled(world, min, max)
  const { functions, clock } = world
  if (functions && functions.busy > 0 && clock.now > calmMs + longestFunctionMs)
    throw new InvariantError(`${functions.busy} functions run jobs that are over`)
  for (const [job, starts] of faults.starts) {
    if (starts > 1)
      throw new InvariantError(`job ${job} must not be repeated, but was started ${starts} times`)
  }
}

function resultOf(
  world: World,
  { tally }: Invariants,
  jobs: number,
): Omit<ChaosResult, 'stalled' | 'stallDrains'> {
  const all = [...world.pastCounters, world.brain.view().counters]
  const sum = (count: (counters: Counters) => number) => all.reduce((total, each) => total + count(each), 0)
  const { hungUp, dropped, ranked, launches, givenUp, strangers, drained, away, awayFailed } = tally
  const { roles, stays, late, pauses, held, ejected, shed, adopted } = tally
  return {
    jobs,
    results: sum(({ results, errors }) => results + errors) + world.answeredByFronts,
    hungUp,
    refused: sum(({ refused }) => refused),
    unknown: sum(({ unknown }) => unknown),
    dropped,
    retries: sum(({ retries }) => retries),
    ...{ ranked, launches, givenUp, strangers, drained, away, awayFailed, roles, stays, late },
    ...{ pauses, held, ejected, shed, adopted },
  }
}

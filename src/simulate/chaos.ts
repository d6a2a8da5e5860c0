/** One run in which everything goes wrong that can, drawn whole from a seed, and checked after every event. */

import { createHash } from 'node:crypto'
import type { OverflowOptions } from '../brain/functions/overflow-spec.ts'
import type { BrainLimits } from '../brain/limits.ts'
import { InvariantError } from '../lib/errors.ts'
import { stream } from '../lib/random.ts'
import { type DisciplineName, disciplines } from '../model/discipline.ts'
import { usualDiscipline } from '../systems/brain-spec.ts'
import type { ScaleSpec } from '../systems/scalers.ts'
import type { SchedulerName } from '../systems/schedulers.ts'
import { listMs, providerRates, settled } from './chaos-fleet.ts'
import { functionFaults, functionsFrom, longestFunctionMs } from './chaos-functions.ts'
import { ownWays, placingFrom } from './chaos-policies.ts'
import { tiersFrom } from './chaos-tiers.ts'
import { rank } from './clock.ts'
import { Faults } from './faults.ts'
import { Invariants } from './invariants.ts'
import { guess, unitsPerSecond } from './simulate.ts'
import { lognormal } from './sizes.ts'
import { type Truth, World } from './world.ts'

export interface ChaosResult {
  jobs: number
  results: number
  hungUp: number
  refused: number
  unknown: number
  dropped: number
  retries: number
  /** How often a job in a worker's hands was given another precedence. */
  ranked: number
  launches: number
  /** Launches that came to nothing, machines that nobody knew, and workers that were drained. */
  givenUp: number
  strangers: number
  drained: number
  /** Attempts in functions, and those of them that came to nothing. */
  away: number
  awayFailed: number
  /** Where there are tiers: roles that were given, nodes that asked to end and stayed, jobs that waited too long. */
  roles: number
  stays: number
  late: number
  /** SHA-256 of the event log, where that was asked for. */
  hash?: string
}

/** When faults have stopped, everything must be over after this much virtual time. */
const patienceMs = 2_000_000

export interface ChaosOptions {
  /** True: compute the hash of the event log. */
  hash?: boolean
  log?: (chunk: Uint8Array) => void
  /** How the number of workers is found, in place of a policy that draws it. */
  scale?: Omit<ScaleSpec, 'min' | 'max'>
  /** Further constants of the brain. */
  limits?: Partial<BrainLimits>
  overflow?: Partial<OverflowOptions>
}

/** Throws an `InvariantError` when a promise does not hold. */
export function chaos(scheduler: SchedulerName, seed: number, options: ChaosOptions = {}): ChaosResult {
  const random = stream(seed, 'scenario')
  const min = 1 + random.below(4)
  const max = min + random.below(3)
  const jobs = 20 + random.below(80)
  const perSecond = 2 + random.next() * 20
  const untilMs = (jobs / perSecond) * 1000 * (1 + random.next())
  const fleet = {
    cores: 1 + random.below(3),
    workPerSecond: unitsPerSecond,
    memoryMb: 256 * (1 + random.below(8)),
    slots: 1 + random.below(12),
    bootMs: random.next() * 1000,
  }
  const rates = {
    lose: random.next() < 0.3 ? 0 : random.next() * 0.15,
    double: random.next() < 0.3 ? 0 : random.next() * 0.3,
    delayMs: 0.1 + random.next() ** 3 * 300,
    provider: providerRates(stream(seed, 'provider')),
    everyMs: 200 + random.next() * 4000,
    untilMs,
    ...functionFaults(seed),
  }
  const choices: DisciplineName[] = [usualDiscipline(scheduler), usualDiscipline(scheduler), 'fifo']
  const limits = {
    queue: random.next() < 0.2 ? random.below(20) : 1000,
    crashes: 2 + random.below(3),
    losses: 2 + random.below(5),
    beatMs: 100 + random.below(400),
    missedBeats: 2 + random.below(4),
    freshMs: 1000,
    settleMs: 50 + random.below(1000),
    bootMs: 3000,
    listMs,
    backoffMs: 100,
    backoffMaxMs: 3000,
  }
  const brain = {
    scheduler,
    discipline: choices[random.below(choices.length)]!,
    scale: { min, max },
    epoch: 1 + random.below(3),
    seed,
    limits,
  }

  const clients = stream(seed, 'clients')
  const workPerMinute = (1 + clients.next() * 60) * unitsPerSecond
  const rateLimit = clients.next() < 0.2 ? { rateLimit: { workPerMinute, burst: workPerMinute / 10 } } : {}

  const ranks = disciplines[brain.discipline].ranks
  const fair = ranks && stream(seed, 'fair').next() < 0.3 ? { fair: true } : {}

  const precedence = stream(seed, 'precedence')
  const turns = { mostSlowdown: 1 + precedence.below(20), turnMs: 1 + precedence.below(20) }
  if (precedence.next() < 0.5) Object.assign(limits, turns)
  const hasIntervals = precedence.next() < 0.6
  const haste = precedence.next() < 0.5 ? 0 : precedence.next() * 0.3

  const sizing = stream(seed, 'sizing')
  const wander = { everyMs: 200 + sizing.next() * 5000, untilMs }
  const wanders = { ...brain.scale, policy: 'wandering' as const, wander }
  const byCpu = { ...brain.scale, policy: 'cpu-ema' as const, everyMs: 300 + sizing.below(3000) }
  const tiers = tiersFrom(seed, scheduler, brain.scale)
  const own = ownWays(scheduler, seed, limits.beatMs)
  Object.assign(limits, own.limits)
  const usual = stream(seed, 'by cpu').next() < 0.15 ? byCpu : sizing.next() < 0.5 ? wanders : brain.scale
  const given = options.scale ?? own.scale
  const scale = given ? { ...brain.scale, ...given } : (tiers?.scale ?? usual)
  const overflow = functionsFrom(seed, brain.scale.min * fleet.cores)
  if (overflow.overflow) Object.assign(overflow.overflow, options.overflow)
  Object.assign(limits, options.limits)

  const waiting = stream(seed, 'waiting')
  if (waiting.next() < 0.3) Object.assign(limits, { waitMs: 500 + waiting.below(20_000) })
  if (waiting.next() < 0.3) Object.assign(limits, { retries: 1 + waiting.below(5) })
  const health = stream(seed, 'health')
  if (scale === byCpu) Object.assign(limits, { cpuEveryMs: 200 + health.below(2000) })
  const everyMs = limits.beatMs * (1 + 2 * health.next())
  const pings = { everyMs, answerMs: everyMs, most: 2 + health.below(3), mostFresh: 16 }
  if (health.next() < 0.25 && !own.limits) Object.assign(limits, { pings })

  const faults = new Faults(rates, seed)
  const checks = new Invariants(disciplines[brain.discipline].bounded, max, overflow.overflow?.concurrency)
  const hash = options.hash ? createHash('sha256') : undefined
  const log = (chunk: Uint8Array) => {
    hash?.update(chunk)
    options.log?.(chunk)
  }
  const world = new World({
    brain: { ...brain, scale, placing: own.placing ?? placingFrom(seed), ...rateLimit, ...fair, ...overflow },
    seed,
    fleet,
    faults,
    ...((hash || options.log) && { log }),
    observer: checks,
  })
  world.begin()
  faults.begin(world)

  const sizes = lognormal(-2, 1.5)
  const errorSigma = random.next() * 2
  const within = Math.exp(1.645 * errorSigma)
  let time = 0
  for (let i = 1; i <= jobs; i++) {
    time += (random.exponential() / perSecond) * 1000
    const id = `j${i}`
    const size = Math.max(1, Math.round(Math.min(sizes.draw(random), 20) * unitsPerSecond))
    const work = guess(size, errorSigma, random)
    const soonMs = precedence.next() < haste ? (work / 1000) * (0.5 + 4 * precedence.next()) : undefined
    const laterMs = random.next() < 0.1 ? random.exponential() * 3000 : undefined
    const deadlineMs = soonMs ?? laterMs
    const hangsUpMs = random.next() < 0.1 ? random.exponential() * 2000 : undefined
    const job = {
      id,
      workload: 'chaos',
      work,
      ...(hasIntervals && { low: Math.floor(work / within), high: Math.ceil(work * within) }),
      memoryMb: 16 * random.below(24),
      ...(clients.next() < 0.8 && { client: `c${clients.below(3)}` }),
      ...(deadlineMs !== undefined && { deadlineAt: time + deadlineMs }),
      ...(random.next() < 0.15 && { safeToRepeat: false }),
      ...(random.next() < 0.15 && { preemptible: false }),
      ...tiers?.lane(),
    }
    const fate = fateOf(random.next())
    world.clock.at(time, rank.arrival, () => world.submit(job, size, fate))
    if (hangsUpMs !== undefined) world.clock.at(time + hangsUpMs, rank.arrival, () => world.hangUp(id))
  }

  // Beats go on for ever, so the agenda never runs dry. All checks are made as events are handled.
  const calmMs = Math.max(time, untilMs)
  while (world.clock.now < calmMs || world.truths.size > 0) if (!world.clock.step(calmMs + patienceMs)) break
  const restMs = world.clock.now + 30_000
  while (world.clock.step(restMs)) if (world.truths.size > 0) break
  world.flushLog()
  checks.finally(world.brain)
  settled(world, min, max)
  if (world.functions && world.functions.busy > 0 && world.clock.now > calmMs + longestFunctionMs)
    throw new InvariantError(`${world.functions.busy} functions work on jobs that nobody wants`)
  for (const [job, starts] of faults.starts) {
    if (starts > 1)
      throw new InvariantError(`job ${job} must not be repeated, but was started ${starts} times`)
  }
  const { counters } = world.brain.view()
  const { hungUp, dropped, ranked, launches, givenUp, strangers, drained, away, awayFailed } = checks.tally
  const { roles, stays, late } = checks.tally
  return {
    jobs,
    results: counters.results + counters.errors,
    hungUp,
    refused: counters.refused,
    unknown: counters.unknown,
    dropped,
    retries: counters.retries,
    ranked,
    launches,
    givenUp,
    strangers,
    drained,
    away,
    awayFailed,
    ...{ roles, stays, late },
    ...(hash && { hash: hash.digest('hex') }),
  }
}

function fateOf(draw: number): Truth['fate'] {
  if (draw < 0.03) return 'crashes-worker'
  if (draw < 0.06) return 'crashes-slot'
  return draw < 0.1 ? 'errs' : 'ends'
}

/** The scenario of a run with faults, drawn whole from a seed. The same seed gives the same scenario. */

import type { OverflowOptions } from '../brain/functions/overflow-spec.ts'
import { type BrainLimits, usualRetryPauses, usualStalls } from '../brain/limits.ts'
import { type Random, stream } from '../lib/random.ts'
import { type DisciplineName, disciplines } from '../model/discipline.ts'
import type { Job } from '../model/job.ts'
import { type BrainSpec, usualDiscipline } from '../systems/brain-spec.ts'
import type { ScaleSpec } from '../systems/scalers.ts'
import type { SchedulerName } from '../systems/schedulers.ts'
import { brainRates } from './brain-faults.ts'
import { listMs, providerRates } from './chaos-fleet.ts'
import { functionFaults, functionsFrom } from './chaos-functions.ts'
import { ownWays, placingFrom } from './chaos-policies.ts'
import { pressureFrom } from './chaos-pressure.ts'
import { tiersFrom } from './chaos-tiers.ts'
import type { FleetSpec, Truth } from './environment.ts'
import type { FaultRates } from './faults.ts'
import { guess, unitsPerSecond } from './simulate.ts'
import { lognormal } from './sizes.ts'

/** Overrides of what is drawn. */
export interface ScenarioOptions {
  /** The scaling policy. */
  scale?: Omit<ScaleSpec, 'min' | 'max'>
  /** Further limits of the brain. */
  limits?: Partial<BrainLimits>
  overflow?: Partial<OverflowOptions>
}

export interface ChaosJob {
  atMs: number
  job: Job
  size: number
  fate: Truth['fate']
  wait: Truth['wait']
  /** When its client hangs up. Undefined: never. */
  hangsUpAtMs: number | undefined
  pressure: number
}

export interface ChaosScenario {
  min: number
  max: number
  fleet: FleetSpec
  rates: FaultRates
  brain: BrainSpec
  jobs: number
  /** The jobs in order of arrival. Call it once. */
  drawJobs(): Generator<ChaosJob>
}

interface Draws {
  random: Random
  clients: Random
  precedence: Random
  proofs: Random
  waits: Random
  tiers: ReturnType<typeof tiersFrom>
  pressure: ReturnType<typeof pressureFrom>
}

type ChaosLimits = ReturnType<typeof drawLimits>

export function drawScenario(
  scheduler: SchedulerName,
  seed: number,
  options: ScenarioOptions,
): ChaosScenario {
  const random = stream(seed, 'scenario')
  const min = 1 + random.below(4)
  const max = min + random.below(3)
  const jobs = 20 + random.below(80)
  const perSecond = 2 + random.next() * 20
  const untilMs = (jobs / perSecond) * 1000 * (1 + random.next())
  const fleet = { ...drawFleet(random), ...drawSlotStart(seed) }
  const rates = drawRates(random, seed, untilMs)
  const choices: DisciplineName[] = [usualDiscipline(scheduler), usualDiscipline(scheduler), 'fifo']
  const limits = drawLimits(random)
  const discipline = choices[random.below(choices.length)]!
  const epoch = 1 + random.below(3)

  const clients = stream(seed, 'clients')
  const workPerMinute = (1 + clients.next() * 60) * unitsPerSecond
  const rateLimit = clients.next() < 0.2 ? { rateLimit: { workPerMinute, burst: workPerMinute / 10 } } : {}
  const fair = disciplines[discipline].ranks && stream(seed, 'fair').next() < 0.3 ? { fair: true } : {}

  const precedence = stream(seed, 'precedence')
  const turns = { mostSlowdown: 1 + precedence.below(20), turnMs: 1 + precedence.below(20) }
  if (precedence.next() < 0.5) Object.assign(limits, turns)
  const hasIntervals = precedence.next() < 0.6
  const haste = precedence.next() < 0.5 ? 0 : precedence.next() * 0.3

  const tiers = tiersFrom(seed, scheduler, { min, max })
  const own = ownWays(scheduler, seed, limits.beatMs)
  Object.assign(limits, own.limits)
  const { scale, isByCpu } = drawScale(seed, { min, max }, untilMs, options.scale ?? own.scale, tiers)
  const overflow = functionsFrom(seed, min * fleet.cores)
  if (overflow.overflow) Object.assign(overflow.overflow, options.overflow)
  Object.assign(limits, options.limits)
  drawStalls(seed, limits)
  drawRetryPauses(seed, limits)
  drawHealth(seed, limits, isByCpu, own.limits === undefined)

  const placing = own.placing ?? placingFrom(seed)
  const brain = {
    scheduler,
    discipline,
    scale,
    epoch,
    seed,
    limits,
    placing,
    ...rateLimit,
    ...fair,
    ...overflow,
  }
  const traffic = { jobs, perSecond, hasIntervals, haste }
  const [proofs, waits] = [stream(seed, 'proofs'), stream(seed, 'waits')]
  const pressure = pressureFrom(seed)
  const drawJobs = () => jobsOf(traffic, { random, clients, precedence, proofs, waits, tiers, pressure })
  return { min, max, fleet, rates, brain, jobs, drawJobs }
}

function drawFleet(random: Random): FleetSpec {
  return {
    cores: 1 + random.below(3),
    workPerSecond: unitsPerSecond,
    memoryMb: 256 * (1 + random.below(8)),
    slots: 1 + random.below(12),
    bootMs: random.next() * 1000,
  }
}

function drawSlotStart(seed: number): Pick<FleetSpec, 'slotStart'> {
  const random = stream(seed, 'slot starts')
  return random.next() < 0.4 ? { slotStart: { ms: random.next() * 500, warm: random.below(4) } } : {}
}

function drawRates(random: Random, seed: number, untilMs: number): FaultRates {
  return {
    lose: random.next() < 0.3 ? 0 : random.next() * 0.15,
    double: random.next() < 0.3 ? 0 : random.next() * 0.3,
    delayMs: 0.1 + random.next() ** 3 * 300,
    provider: providerRates(stream(seed, 'provider')),
    brain: brainRates(stream(seed, 'brain')),
    everyMs: 200 + random.next() * 4000,
    untilMs,
    stallEveryMs: stallEveryMs(seed),
    ...functionFaults(seed),
  }
}

function drawLimits(random: Random) {
  return {
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
}

function drawScale(
  seed: number,
  bounds: { min: number; max: number },
  untilMs: number,
  given: Omit<ScaleSpec, 'min' | 'max'> | undefined,
  tiers: Draws['tiers'],
): { scale: ScaleSpec; isByCpu: boolean } {
  const sizing = stream(seed, 'sizing')
  const wander = { everyMs: 200 + sizing.next() * 5000, untilMs }
  const wanders = { ...bounds, policy: 'wandering' as const, wander }
  const byCpu = { ...bounds, policy: 'cpu-ema' as const, everyMs: 300 + sizing.below(3000) }
  const usual = stream(seed, 'by cpu').next() < 0.15 ? byCpu : sizing.next() < 0.5 ? wanders : bounds
  const scale = given ? { ...bounds, ...given } : (tiers?.scale ?? usual)
  return { scale, isByCpu: scale === byCpu }
}

/** Queue timeouts, retries, and the detection of lost and bad workers. */
function drawHealth(seed: number, limits: ChaosLimits, isByCpu: boolean, mayPing: boolean): void {
  const waiting = stream(seed, 'waiting')
  if (waiting.next() < 0.3) Object.assign(limits, { waitMs: 500 + waiting.below(20_000) })
  if (waiting.next() < 0.3) Object.assign(limits, { retries: 1 + waiting.below(5) })
  const health = stream(seed, 'health')
  if (isByCpu) Object.assign(limits, { cpuEveryMs: 200 + health.below(2000) })
  const everyMs = limits.beatMs * (1 + 2 * health.next())
  const pings = { everyMs, answerMs: everyMs, most: 2 + health.below(3), mostFresh: 16 }
  if (health.next() < 0.25 && mayPing) Object.assign(limits, { pings })
  const silentLosses = { share: 0.2 + 0.6 * health.next(), patience: 1 + 3 * health.next() }
  if (health.next() < 0.6) Object.assign(limits, { silentLosses })
  const outliers = {
    ...{ failures: 1 + health.below(3), errors: 1 + health.below(4), slowdown: 1.5 + 4 * health.next() },
    ...{ everyMs: health.next() * 500, baseMs: 100 + health.next() * 3000, mostMs: 8000 },
    share: 0.4 + 0.59 * health.next(),
  }
  if (health.next() < 0.7) Object.assign(limits, { outliers })
}

/** Half of the runs have workers whose jobs stand still, and most of the others detect it without a need. */
function stallEveryMs(seed: number): number {
  const random = stream(seed, 'stalls')
  return random.next() < 0.5 ? 500 + random.next() * 4000 : Infinity
}

/** Reports may be late by several times the mean delay, so shorter times would accuse healthy workers. */
function drawStalls(seed: number, limits: ChaosLimits): void {
  const random = stream(seed, 'stall rule')
  const stalls = { ...usualStalls, afterMs: 200 + random.next() * 3000, attempts: 1 + random.below(4) }
  if (random.next() < 0.7) Object.assign(limits, { stalls: { ...stalls, forgetMs: stalls.afterMs * 10 } })
}

function drawRetryPauses(seed: number, limits: ChaosLimits): void {
  const random = stream(seed, 'retry pauses')
  const leastMs = 50 + random.next() * 3000
  const pauses = {
    leastMs,
    mostMs: leastMs * (0.5 + random.next() * 2),
    halfMs: 300 + random.next() * 10_000,
  }
  const retryPauses = { ...usualRetryPauses, ...pauses, pauseMaxMs: 200 + random.next() * 3000 }
  if (random.next() < 0.6) Object.assign(limits, { retryPauses })
}

function* jobsOf(
  {
    jobs,
    perSecond,
    hasIntervals,
    haste,
  }: Record<'jobs' | 'perSecond' | 'haste', number> & {
    hasIntervals: boolean
  },
  { random, clients, precedence, proofs, waits, tiers, pressure }: Draws,
): Generator<ChaosJob> {
  const sizes = lognormal(-2, 1.5)
  const errorSigma = random.next() * 2
  const within = Math.exp(1.645 * errorSigma)
  const unprovenPart = proofs.next() < 0.5 ? 0 : proofs.next()
  let time = 0
  for (let i = 1; i <= jobs; i++) {
    time += (random.exponential() / perSecond) * 1000
    const size = Math.max(1, Math.round(Math.min(sizes.draw(random), 20) * unitsPerSecond))
    const work = guess(size, errorSigma, random)
    const soonMs = precedence.next() < haste ? (work / 1000) * (0.5 + 4 * precedence.next()) : undefined
    const laterMs = random.next() < 0.1 ? random.exponential() * 3000 : undefined
    const deadlineMs = soonMs ?? laterMs
    const hangsUpMs = random.next() < 0.1 ? random.exponential() * 2000 : undefined
    const job = {
      id: `j${i}`,
      workload: 'chaos',
      work,
      ...(hasIntervals && { low: Math.floor(work / within), high: Math.ceil(work * within) }),
      memoryMb: 16 * random.below(24),
      ...(clients.next() < 0.8 && { client: `c${clients.below(3)}` }),
      ...(deadlineMs !== undefined && { deadlineAt: time + deadlineMs }),
      ...(random.next() < 0.15 && { safeToRepeat: false }),
      ...(random.next() < 0.15 && { preemptible: false }),
      ...(proofs.next() < unprovenPart && { unproven: true as const }),
      ...tiers?.lane(),
    }
    const fate = fateOf(random.next())
    const wait = waits.next() < 0.15 ? { part: waits.next(), ms: waits.exponential() * 200 } : undefined
    const hangsUpAtMs = hangsUpMs === undefined ? undefined : time + hangsUpMs
    yield { atMs: time, job, size, fate, wait, hangsUpAtMs, pressure: pressure() }
  }
}

function fateOf(draw: number): Truth['fate'] {
  if (draw < 0.03) return 'crashes-worker'
  if (draw < 0.06) return 'crashes-slot'
  return draw < 0.1 ? 'errs' : 'ends'
}

/** The centre of a live cluster: the brain with its open jobs, and what happens when a job arrives and ends. */

import type { Brain } from '../brain/brain.ts'
import { jobSpeed } from '../estimate/job-speed.ts'
import type { JobParts, OpenJob } from '../front/open-job.ts'
import { OverloadWatch } from '../front/overload/overload-watch.ts'
import { resourceReader } from '../front/overload/readings.ts'
import { stackOf } from '../lib/errors.ts'
import { Outage } from '../lib/outage.ts'
import { count } from '../lib/quantities.ts'
import type { Action } from '../model/action.ts'
import type { Ongoing } from '../model/attempt.ts'
import type { Event } from '../model/event.ts'
import type { Job } from '../model/job.ts'
import { mayWork, type WorkerView } from '../model/view.ts'
import { isShared } from '../store/open-store.ts'
import { undisturbedMs } from '../story/story.ts'
import { brainOf } from '../systems/brain-spec.ts'
import { type BrainDriver, type DriverParts, driveBrain } from './brain-driver.ts'
import { now } from './clock.ts'
import type { Delegation } from './direct/delegation.ts'
import { learnFrom, noteError } from './finished-jobs.ts'
import { Leadership } from './leadership.ts'
import { type MetricsRecorder, metricsRecorder } from './metrics-recorder.ts'
import { type Observers, observersOf } from './observers.ts'
import { OpenJobs } from './open-jobs.ts'
import type { ClusterPlan } from './plan.ts'
import type { Records } from './records.ts'
import type { Stopping } from './stopping.ts'

export interface Core {
  plan: ClusterPlan
  records: Records
  stopping: Stopping
  brain: Brain
  driver: BrainDriver
  observers: Observers
  jobs: OpenJobs
  /** Undefined: nothing is recorded while jobs run. */
  metrics: MetricsRecorder | undefined
  /** Workers whose role is front. */
  frontWorkers: Set<string>
  /** Why workers cannot run jobs now, by worker. */
  problems: Map<string, string>
  /** The last failed launches, in words. */
  launchTroubles: string[]
  /** Reports launches that fail. */
  launches: Outage
  leadership: Leadership
  /** Of this process. */
  overload: OverloadWatch
  /** True: the cluster accepts requests and a worker can run them. */
  isReady(): boolean
  tell(event: Event): void
  /**
   * `ofFront`: the pressure of the front where its client is connected, if that is another process. `on`: its attempt, which an
   * earlier brain began.
   */
  submit(job: OpenJob, ofFront?: number, on?: Ongoing): void
  /** A job has ended. */
  ended(job: OpenJob): void
}

export interface CoreParts {
  stopping: Stopping
  perform(action: Action): void
  delegation(): Pick<Delegation, 'observe' | 'ended'>
}

export function clusterCore(
  plan: ClusterPlan,
  records: Records,
  { stopping, perform, delegation }: CoreParts,
): Core {
  const { options, spec, following, serving } = plan
  const { ledger, instances, eventLog, log, rates } = records
  const learners = { ...records, units: serving.units }
  const problems = new Map<string, string>()
  const canWork = (worker: WorkerView) => mayWork(worker) && !problems.has(worker.id)
  const brain = brainOf(spec, { scheduler: options.ownScheduler, scaler: options.scaler })
  const jobs = new OpenJobs()
  const observers = observersOf(plan, records, jobs)
  const delegates: DriverParts['observers'][number] = {
    observe: (event, actions) => delegation().observe(event, actions),
  }
  // Routes count in microseconds; estimators of users and of published systems count at the announced rate.
  const isNominal = serving.units || options.estimator || options.ruled
  const timed = ({ job, quote }: JobParts): Job => {
    const speed = isNominal ? undefined : jobSpeed(job, quote, rates, plan.nominal * 1000)
    return speed ? { ...job, speed } : job
  }
  const overload = watchOverload(plan, records.log, brain)
  const seenBy = [...observers.all, shedCounter(overload), delegates]
  const driver = driveBrain({ brain, eventLog, observers: seenBy, now, perform, log })
  const isRecorded = following.metricsEvery !== undefined || following.fromStart
  const metrics = isRecorded
    ? metricsRecorder({ ledger, instances }, serving, jobs, following.fromStart)
    : undefined
  const leadership = leadershipOf(plan)
  return {
    ...{ plan, records, stopping, brain, driver, observers, jobs, metrics, overload, leadership },
    frontWorkers: new Set(),
    problems,
    launchTroubles: [],
    launches: new Outage(
      {
        failed: (why) => `fleet: a worker did not start: ${why}`,
        works: (lost) =>
          `fleet: workers start again, after ${count(lost, 'failed launch', 'failed launches')}`,
      },
      records.log,
    ),
    // With `min` = 0 the first request waits for its worker.
    isReady: () => !stopping.isStopping && (options.min === 0 || brain.view().workers.some(canWork)),
    tell: driver.tell,
    submit(job, ofFront = 0, on) {
      const pressure = on ? 0 : Math.min(1, Math.max(ofFront, overload.pressure))
      jobs.add(job)
      driver.tell({
        ...{ type: 'arrived', job: timed(job.parts) },
        ...(pressure > 0 && { pressure }),
        ...(on && { on }),
      })
    },
    ended(job) {
      jobs.delete(job)
      try {
        metrics?.attemptEnded(job)
        noteError(job, learners)
        const story = observers.stories.of(job.parts.job.id)
        learnFrom(job, learners, story && undisturbedMs(story))
        delegation().ended(job)
      } catch (error) {
        records.log(`internal error: nothing is learned from job ${job.parts.job.id}: ${stackOf(error)}`)
      }
    },
  }
}

function leadershipOf({ options: { keep, supervisor }, spec: { epoch } }: ClusterPlan): Leadership {
  return new Leadership({ isShared: isShared(keep?.store ?? ''), leads: supervisor?.leads ?? false, epoch })
}

/** Counts the jobs that the brain sheds. */
function shedCounter(overload: OverloadWatch): DriverParts['observers'][number] {
  return {
    observe({ type }, actions) {
      if (type !== 'arrived') return
      for (const action of actions)
        if (action.type === 'answer' && action.reason.code === 'overloaded') overload.count('shed')
    },
  }
}

/** A shorter queue has no room for steps: it is full at once. */
const leastQueue = 100

function watchOverload(
  { options: { queue, overload }, limits }: ClusterPlan,
  log: (line: string) => void,
  brain: Brain,
): OverloadWatch {
  const queued = () => (queue >= leastQueue ? brain.queued / queue : undefined)
  const reader = overload ?? resourceReader({ memoryMb: limits.processMb, queue: queued })
  return new OverloadWatch({ reader, now, log })
}

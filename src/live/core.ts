/** The centre of a live cluster: the brain with its open jobs, and what happens when a job arrives and ends. */

import type { Brain } from '../brain/brain.ts'
import type { OpenJob } from '../front/open-job.ts'
import type { Action } from '../model/action.ts'
import type { Event } from '../model/event.ts'
import { mayWork, type WorkerView } from '../model/view.ts'
import { brainOf } from '../systems/brain-spec.ts'
import { type BrainDriver, driveBrain } from './brain-driver.ts'
import { now } from './clock.ts'
import { learnFrom } from './finished-jobs.ts'
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
  /** True: the cluster accepts requests and a worker can run them. */
  isReady(): boolean
  tell(event: Event): void
  submit(job: OpenJob): void
  /** A job has ended. */
  ended(job: OpenJob): void
}

export function clusterCore(
  plan: ClusterPlan,
  records: Records,
  { stopping, perform }: { stopping: Stopping; perform(action: Action): void },
): Core {
  const { options, spec, following, serving } = plan
  const { ledger, eventLog, log } = records
  const { units } = serving
  const problems = new Map<string, string>()
  const canWork = (worker: WorkerView) => mayWork(worker) && !problems.has(worker.id)
  const brain = brainOf(spec, { scheduler: options.ownScheduler, scaler: options.scaler })
  const jobs = new OpenJobs(spec.epoch)
  const observers = observersOf(plan, records, jobs)
  const driver = driveBrain({ brain, eventLog, observers: observers.all, now, perform, log })
  const isRecorded = following.metricsEvery !== undefined || following.fromStart
  const metrics = isRecorded ? metricsRecorder(ledger, serving, jobs, following.fromStart) : undefined
  return {
    ...{ plan, records, stopping, brain, driver, observers, jobs, metrics },
    frontWorkers: new Set(),
    problems,
    launchTroubles: [],
    // With `min` = 0 the first request waits for its worker.
    isReady: () => !stopping.isStopping && (options.min === 0 || brain.view().workers.some(canWork)),
    tell: driver.tell,
    submit(job) {
      jobs.add(job)
      driver.tell({ type: 'arrived', job: job.parts.job })
    },
    ended(job) {
      jobs.delete(job)
      metrics?.attemptEnded(job)
      learnFrom(job, { ...records, units })
    },
  }
}

/** Fleets for tests of scaling policies. */

import type { FleetView, WorkerFigures } from '../scale/scaler.ts'

/** By default two cores per worker, idle. */
export function fleetOf(facts: Partial<FleetView> & { ready: number }): FleetView {
  return {
    inRole: () => 0,
    booting: 0,
    draining: 0,
    waiting: 0,
    jobs: 0,
    cores: facts.ready * 2,
    busyCores: 0,
    coresEach: 2,
    coreMs: 0,
    busyMs: 0,
    jobMs: 0,
    bootMs: 60_000,
    present: () => ({
      seconds: 0,
      waitingSeconds: 0,
      waitingJobs: 0,
      drainingSeconds: 0,
      oldestWaitingMs: 0,
    }),
    workers: () => [],
    waitingWork: () => 0,
    ...facts,
  }
}

/** A fleet of these workers, each with the `usual` figures unless given. */
export function fleetOfWorkers(
  usual: Partial<WorkerFigures>,
  workers: Partial<WorkerFigures>[],
  more: Partial<FleetView> = {},
): FleetView {
  const figures = workers.map((worker, i) => ({
    ...{ id: `w${i + 1}`, number: i + 1, draining: false, suspect: false },
    ...{ cpu: null, jobs: 0, work: 0, since: 0 },
    ...usual,
    ...worker,
  }))
  const ready = figures.filter(({ draining }) => !draining).length
  return fleetOf({ ready, draining: figures.length - ready, workers: () => figures, ...more })
}

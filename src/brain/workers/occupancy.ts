/** How busy the fleet has been: integrals over time, of which policies compare two moments. */

export interface OccupancySums {
  /** Cores of ready workers, busy cores and jobs in the cluster, each times the time. */
  coreMs: number
  busyMs: number
  jobMs: number
}

interface State extends OccupancySums {
  at: number
  cores: number
  busy: number
  jobs: number
}

export class Occupancy {
  readonly #state: State = { at: 0, cores: 0, busy: 0, jobs: 0, coreMs: 0, busyMs: 0, jobMs: 0 }

  /** The numbers from now on. */
  note(now: number, cores: number, busy: number, jobs: number): void {
    const state = this.#state
    if (cores === state.cores && busy === state.busy && jobs === state.jobs) return
    const ms = now - state.at
    state.coreMs += ms * state.cores
    state.busyMs += ms * state.busy
    state.jobMs += ms * state.jobs
    state.at = now
    state.cores = cores
    state.busy = busy
    state.jobs = jobs
  }

  sums(now: number): OccupancySums {
    const { at, cores, busy, jobs, coreMs, busyMs, jobMs } = this.#state
    const ms = now - at
    return { coreMs: coreMs + ms * cores, busyMs: busyMs + ms * busy, jobMs: jobMs + ms * jobs }
  }
}

/** How busy the fleet has been: sums over time, of which policies compare two moments. */

export interface SavedOccupancy {
  at: number
  coreMs: number
  busyMs: number
  jobMs: number
}

export class Occupancy implements SavedOccupancy {
  at = 0
  /** Cores of ready workers, those of them that run a job, and jobs present, each times how long. */
  coreMs = 0
  busyMs = 0
  jobMs = 0

  /** Since the last call there were so many. */
  advance(now: number, cores: number, busy: number, jobs: number): void {
    const ms = now - this.at
    if (ms <= 0) return
    this.at = now
    this.coreMs += ms * cores
    this.busyMs += ms * busy
    this.jobMs += ms * jobs
  }

  save(): SavedOccupancy {
    const { at, coreMs, busyMs, jobMs } = this
    return { at, coreMs, busyMs, jobMs }
  }

  load(saved: SavedOccupancy): void {
    Object.assign(this, saved)
  }
}

/** A provider launches, lists and terminates workers. One file per provider. */

export interface ProviderEvents {
  /**
   * The launch failed: it could not start, or ended before its worker joined. At most once per launch. `output`: the last
   * lines that it printed.
   */
  launchFailed(launch: string, message: string, output?: string): void
  /** The worker of this launch has ended after it joined. */
  gone(launch: string, message: string): void
}

/** A machine or process with the cluster's tag. */
export interface Listed {
  launch: string
  /** When it was started, in milliseconds since 1970. */
  since: number
}

export interface Provider {
  /** Starts one worker, which joins and names this launch. Returns at once; failures are reported as events. */
  launch(launch: string): void
  /** The worker of this launch has joined: from now on its end is reported as `gone`. Idempotent. */
  joined(launch: string): void
  /**
   * All machines with the cluster's tag, expected or not; one entry for each machine, even if two have the same launch.
   * May be out of date by the brain's `listMs`. Rejects if the list is unavailable: an empty list means no machines.
   */
  list(): Promise<readonly Listed[]>
  /** Ends the machine of a launch, after `graceMs` in which it may end by itself. Idempotent: an unknown launch is ignored. */
  terminate(launch: string, graceMs?: number): void
  /** Ends all workers, and resolves when none is left. Further launches are ignored. Idempotent. */
  close(): Promise<void>
}

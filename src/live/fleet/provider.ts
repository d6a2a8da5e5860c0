/** The fleet: workers launched, watched and ended. One file per provider. */

export interface ProviderEvents {
  /** The launch came to nothing: it could not be started, or ended before anyone joined. At most once a launch. */
  launchFailed(launch: string, message: string): void
  /** A worker that came of this launch is gone. */
  gone(launch: string, message: string): void
}

/** A machine or process that carries our tag. */
export interface Listed {
  launch: string
  /** When it was started, in milliseconds since 1970. */
  since: number
}

export interface Provider {
  /** Starts one worker; it joins by itself and names this launch. Returns at once; failures are told as events. */
  launch(launch: string): void
  /** The worker of this launch has joined: from now on its end is `gone`, not a failed launch. Idempotent. */
  joined(launch: string): void
  /**
   * All that is there and carries our tag, also what nobody expects; a launch that is there twice stands there twice. May
   * be late by as much as `listMs` of the brain's limits. Rejects where it cannot be known: an empty list says that
   * nothing is there.
   */
  list(): Promise<readonly Listed[]>
  /**
   * Ends whatever came of a launch, whatever it holds: at once, or for one that was told to end itself when `graceMs` are
   * over. Idempotent: what is already gone is left alone.
   */
  terminate(launch: string, graceMs?: number): void
  /** Ends all workers, and resolves when none is left. Nothing is launched any more. Idempotent. */
  close(): Promise<void>
}

/** The fleet: workers launched, watched and ended. One file per provider. */

export interface ProviderEvents {
  /** The launch came to nothing: it could not be started, or ended before anyone joined. At most once a launch. */
  launchFailed(launch: string, message: string): void
  /** A worker that came of this launch is gone. */
  gone(launch: string, message: string): void
}

export interface Provider {
  /** Starts one worker; it joins by itself and names this launch. Returns at once; failures are told as events. */
  launch(launch: string): void
  /** The worker of this launch has joined: from now on its end is `gone`, not a failed launch. Idempotent. */
  joined(launch: string): void
  /** Ends what came of a launch, whatever it holds. Idempotent: one already gone is left alone. */
  terminate(launch: string): void
  /** Ends all workers, and resolves when none is left. Nothing is launched any more. Idempotent. */
  close(): Promise<void>
}

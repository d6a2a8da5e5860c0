/** Where a cluster's requests come in: the public port and the fronts that the cluster starts. */

import type { SendHandle } from 'node:child_process'
import type { FrontStep } from './front-processes.ts'

export interface Door {
  /** Opens the public port; `opening` closes it. Rejects with a `ConfigError` if it cannot be used. */
  open(opening: AsyncDisposableStack): Promise<void>
  /** Where requests go, once it is open. */
  url(): string
  /** The queue of connections, for workers that become fronts and that this process starts. */
  queue(): SendHandle
  /** Starts the front processes. Resolves when all listen, or their first start has failed; rejects if nobody listens. */
  start(): Promise<void>
  /** True: the cluster started this front. */
  has(front: string): boolean
  /** Fronts start with the settings of now from now on. */
  renew(): void
  /** Replaces the front processes one at a time, without waiting for requests in progress at the old ones. */
  roll(): AsyncGenerator<FrontStep>
  /** Ends all front processes, forcibly after `graceMs`. Resolves when none is left. Idempotent. */
  close(graceMs: number): Promise<void>
}

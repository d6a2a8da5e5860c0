/** What a fleet needs of EC2. All methods reject with `AwsError`. */

import type { Choice } from './choices.ts'

export interface Machine {
  id: string
  /** Its tag. */
  launch: string
  /** True: it is terminated or will be, whatever happens. */
  isEnded: boolean
  /** When it was launched, in milliseconds since 1970. */
  since: number
  /** Why it has ended, as AWS says it. */
  reason?: string
}

export interface RunRequest {
  launch: string
  choice: Choice
  /** Requests with the same token create one instance together. At most 64 characters. */
  clientToken: string
  userData: string
}

export interface Ec2Api {
  readonly region: string
  /** The id of the instance. */
  run(request: RunRequest): Promise<string>
  /** Resolves if AWS would accept the request. Nothing is launched. */
  tryRun(request: RunRequest): Promise<void>
  /** All machines of the cluster, or of one launch, including machines that ended in the last hour. May be late by seconds. */
  machines(launch?: string): Promise<readonly Machine[]>
  /** Idempotent. */
  terminate(id: string): Promise<void>
  close(): void
}

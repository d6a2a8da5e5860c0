/** What a front in a process of its own needs to know. */

import type { OwnCluster } from '../../config/check.ts'
import type { TlsFiles } from '../../wire/front-settings.ts'
import type { ServingOptions } from '../serving.ts'
import type { SharedPort } from './front-channel.ts'

export interface FrontOptions extends ServingOptions {
  id: string
  join: URL
  token: string
  launch?: string
  own?: OwnCluster
  host: string
  /** 0: any free port. */
  port: number
  /** Set: the cluster started this process and shares its port with it. It ends with the cluster. */
  share?: SharedPort
  /** TLS, unless it shares the cluster's port. Default: plain HTTP. */
  tls?: TlsFiles | undefined
  /** How long a request is held while the brain is unreachable. */
  holdMs: number
  /** Time allowed for pending requests when the front ends. */
  leaveMs: number
  /** Called for each request of a client. */
  arrived?(): void
  /** The front accepts requests. */
  listening?(): void
  log(line: string): void
}

/** What a front in a process of its own needs to know. */

import type { OwnCluster } from '../../config/check.ts'
import type { ResourceReader } from '../../front/overload/readings.ts'
import type { StartParamsThread } from '../../front/request/params-reader.ts'
import type { upstreamAt } from '../../front/transports/upstream.ts'
import type { TlsFiles } from '../../wire/front-settings.ts'
import type { JoinAddresses } from '../../wire/join-addresses.ts'
import type { ServingOptions } from '../serving.ts'
import type { BrainLinkParts } from './brain-link.ts'
import type { SharedPort } from './front-channel.ts'

export interface FrontOptions extends ServingOptions {
  id: string
  join: JoinAddresses
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
  effects?: FrontEffects
}

/** What a front does to the system around it. Tests that run it in virtual time replace this. */
export interface FrontEffects {
  connect: NonNullable<BrainLinkParts['connect']>
  upstreamAt: typeof upstreamAt
  startThread: StartParamsThread
  resources: ResourceReader
}

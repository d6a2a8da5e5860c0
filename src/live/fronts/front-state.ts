/** What is known of a front in another process. */

import type { OverloadStatus } from '../../model/overload.ts'
import type { FrontHello } from '../../wire/front-messages.ts'

export interface KnownFront {
  hello: FrontHello
  session: string
  isConnected: boolean
}

export interface FrontState {
  id: string
  pid: number
  /** Where clients reach it; undefined: at the cluster's address. */
  url?: string | undefined
  launch?: string | undefined
  /** `away`: its connection broke, and its grace period runs. */
  state: 'starting' | 'ready' | 'leaving' | 'away'
  /** Requests not answered yet, and all that it has accepted. */
  inHand: number
  accepted: number
  /** Undefined: it has not reported. */
  overload?: OverloadStatus | undefined
}

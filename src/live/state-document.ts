/** The state of a live cluster, as `/api/state` shows it. */

import type { EstimateError } from '../estimate/errors.ts'
import type { RepeatCounters } from '../front/cache/repeated-answers.ts'
import type { Functions } from '../front/transports/function.ts'
import type { OverloadStatus } from '../model/overload.ts'
import type { BrainView, WorkerView } from '../model/view.ts'
import type { ToldStep } from '../story/fleet-story.ts'
import type { Money } from '../story/money.ts'
import type { DirectTotals } from './direct/delegation.ts'
import type { FrontState } from './fronts/joined-fronts.ts'

export interface ClusterState extends BrainView {
  policy: string
  discipline: string
  uptimeMs: number
  launchTroubles: string[]
  /** Of the main process; fronts have their own. */
  overload: OverloadStatus
  /** The last 200 steps of the fleet, with reasons. */
  steps: ToldStep[]
  /** How far estimates were off lately, by workload or route. */
  estimates: Record<string, EstimateError>
  /** Spent since the start. */
  money: Money
  /** Functions that are busy or warm. */
  functions: ReturnType<Functions['list']>
  /** Undefined: answers are neither cached nor shared. */
  cache?: RepeatCounters
  /** Requests that fronts sent to workers without asking the brain. */
  direct: DirectTotals
  /** The front of this process, if there is one, comes first. */
  fronts: FrontState[]
  /** `address`: where its brain and fronts reach it; `problem`: why it cannot run jobs now. */
  workers: (WorkerView & { pid: number | undefined; address: string | undefined; problem?: string })[]
}

/** Scaling: how many workers? One file per policy. */

import type { Reason } from '../../model.ts'

/** What a scaling policy may look at. */
export interface FleetView {
  ready: number
  booting: number
  draining: number
  waiting: number
}

/** "No data" is `hold`, never zero. */
export type ScaleDecision = { kind: 'hold'; reason: Reason } | { kind: 'scale'; to: number; reason: Reason }

export interface Scaler {
  readonly name: string
  /** How often to decide, besides every change of the fleet; 0: never else. */
  readonly everyMs: number
  decide(view: FleetView, now: number): ScaleDecision
  save(): unknown
  load(saved: unknown): void
}

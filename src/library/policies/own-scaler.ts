/** Lets the brain use a scaler that a user wrote. What the policy returns is checked, and its faults are contained. */

import type { Scaler as BrainScaler, FleetView, ScaleDecision } from '../../brain/scale/scaler.ts'
import { checkNumber } from '../../lib/checks.ts'
import { PolicyError } from '../../lib/errors.ts'
import { scalers } from '../../systems/scalers.ts'
import { checkName, checkPolicy, guardOf, type OnFault } from './guard.ts'

/** Decides how many workers there are. Decisions must depend only on what the methods are given. */
export type Scaler = Omit<BrainScaler, 'roles' | 'endsDrained'>

/** Minimum and maximum number of workers. */
export interface ScalerBounds {
  readonly min: number
  readonly max: number
}

/** Makes a scaler. Called once for each cluster and each simulated run. */
export type ScalerFactory = (bounds: ScalerBounds) => Scaler

const methods = { must: ['decide'], may: ['arrived', 'finished', 'lost', 'figures', 'figuresOf'] } as const

/** Throws a `PolicyError` if the factory returns no scaler. */
export function ownScaler(factory: ScalerFactory, { min, max }: ScalerBounds, onFault: OnFault): BrainScaler {
  const policy = checkPolicy('scaler', factory({ min, max }), methods)
  const name = checkName('scaler', policy.name, Object.keys(scalers))
  const { cpuEveryMs } = policy
  const guard = guardOf(`scaler ${name}`, onFault)
  const everyMs = checkNumber(`scaler ${name}: everyMs`, policy.everyMs, { min: 0 })
  const hold = (): ScaleDecision => ({ kind: 'hold', reason: { code: 'policy-failed', policy: name } })
  const nothing = () => {}
  return {
    ...{ name, everyMs, ...(cpuEveryMs !== undefined && { cpuEveryMs }) },
    decide: (view, now) =>
      guard('decide', () => checkDecision(policy.decide(view, now), view, { min, max }), hold),
    ...(policy.arrived && {
      arrived: (seconds, now, unproven) =>
        guard(
          'arrived',
          () => policy.arrived!(seconds, now, unproven) === true,
          () => false,
        ),
    }),
    ...(policy.finished && {
      finished: (job, now) => guard('finished', () => policy.finished!(job, now), nothing),
    }),
    ...(policy.lost && {
      lost: (worker, now) => guard('lost', () => policy.lost!(worker, now), nothing),
    }),
    ...(policy.figures && {
      figures: () =>
        guard(
          'figures',
          () => policy.figures!(),
          () => ({}),
        ),
    }),
    ...(policy.figuresOf && {
      figuresOf: (worker) =>
        guard(
          'figuresOf',
          () => policy.figuresOf!(worker),
          () => ({}),
        ),
    }),
  }
}

function checkDecision(decision: ScaleDecision, view: FleetView, { min, max }: ScalerBounds): ScaleDecision {
  if (typeof decision?.reason?.code !== 'string')
    throw new PolicyError(
      "returned no reason; must be for example { kind: 'scale', to: 2, reason: { code: 'busy' } }",
    )
  if (decision.kind === 'hold') return decision
  if (decision.kind === 'scale') {
    checkNumber('to', decision.to, { min, max, integer: true })
    return decision
  }
  if (decision.kind !== 'steps')
    throw new PolicyError(
      `returned kind = ${String((decision as { kind: unknown }).kind)}; must be hold, scale or steps`,
    )
  const room = Math.max(0, max - view.ready - view.booting)
  if (decision.launch)
    checkNumber('launch.count', decision.launch.count, { min: 0, max: room, integer: true })
  return decision
}

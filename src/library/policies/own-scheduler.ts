/** Lets the brain use a scheduler that a user wrote. What the policy returns is checked, and its faults are contained. */

import {
  type SchedulerFactory as BrainFactory,
  type Scheduler as BrainScheduler,
  type Verdict as BrainVerdict,
  hasRoom,
  passOver,
} from '../../brain/schedule/scheduler.ts'
import type { JobRecord } from '../../brain/state.ts'
import { PolicyError } from '../../lib/errors.ts'
import { stream } from '../../lib/random.ts'
import type { Reason } from '../../model/reason.ts'
import { schedulers } from '../../systems/schedulers.ts'
import { checkName, checkPolicy, type Guard, guardOf, type OnFault } from './guard.ts'
import { OpenList } from './open-list.ts'
import type { Scheduler, SchedulerFactory, SchedulerParts, Verdict } from './scheduler.ts'

const methods = {
  must: ['place'],
  may: ['rank', 'takes', 'fits', 'refile', 'ended', 'figuresOf'],
} as const

/** The policy's name, and the policy itself as the brain wants it. Throws a `PolicyError` if it is no scheduler. */
export function ownScheduler(
  factory: SchedulerFactory,
  onFault: OnFault,
): { name: string; create: BrainFactory } {
  const { name } = checked(factory, emptyFleet)
  return { name, create: (parts) => adapted(factory, parts, onFault) }
}

const emptyFleet: SchedulerParts = {
  open: () => [],
  accepts: () => false,
  random: stream(1, 'check'),
  fleet: {
    ready: () => 0,
    booting: () => 0,
    isBooting: () => false,
    isWaiting: () => false,
    room: () => 0,
  },
}

function checked(factory: SchedulerFactory, parts: SchedulerParts): Scheduler {
  const policy = checkPolicy('scheduler', factory(parts), methods)
  checkName('scheduler', policy.name, Object.keys(schedulers))
  return policy
}

type Parts = Parameters<BrainFactory>[0]

function adapted(
  factory: SchedulerFactory,
  { accepts, random, fleet }: Parts,
  onFault: OnFault,
): BrainScheduler {
  const open = new OpenList()
  // Workers and jobs that a policy is given are the brain's own records.
  const isAccepted = accepts as SchedulerParts['accepts']
  const policy = checked(factory, { accepts: isAccepted, random, fleet, open: () => open.workers })
  const { name, bySize, patient } = policy
  const guard = guardOf(`scheduler ${name}`, onFault)
  const verdictOf = (verdict: Verdict, record: JobRecord) =>
    checkVerdict(verdict, { open, room: fleet.room, accepts: (worker) => accepts(worker, record) })
  return {
    ...{ name, ...(bySize && { bySize }), ...(patient && { patient }) },
    rank: (record) =>
      policy.rank
        ? guard(
            'rank',
            () => checkRank(policy.rank!(record)),
            () => 0,
          )
        : 0,
    refile(worker) {
      open.refile(worker)
      if (policy.refile) guard('refile', () => policy.refile!(worker), nothing)
    },
    place: (record, now, impatient) =>
      guard(
        'place',
        () => verdictOf(policy.place(record, now, impatient), record),
        () => firstOpen(open, record, accepts),
      ),
    takes: (worker, record, now) =>
      policy.takes
        ? guard(
            'takes',
            () => checkReason(policy.takes!(worker, record, now)),
            () => hasRoom(worker),
          )
        : hasRoom(worker),
    ...optional(policy, guard),
  }
}

function nothing(): void {}

/** Methods that the brain does without if the policy lacks them. */
function optional(policy: Scheduler, guard: Guard): Partial<BrainScheduler> {
  return {
    ...(policy.fits && {
      fits: (worker, record) =>
        guard(
          'fits',
          () => policy.fits!(worker, record) === true,
          () => true,
        ),
    }),
    ...(policy.ended && {
      ended: (worker, record, now) => guard('ended', () => policy.ended!(worker, record, now), nothing),
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

interface VerdictParts {
  open: OpenList
  room(): number
  accepts(worker: NonNullable<BrainVerdict['worker']>): boolean
}

function checkVerdict(verdict: Verdict, { open, room, accepts }: VerdictParts): BrainVerdict {
  if (typeof verdict !== 'object' || verdict === null)
    throw new PolicyError(`returned ${String(verdict)}; must be an object with reason, and worker or none`)
  const reason = checkReason(verdict.reason)
  if (!reason) throw new PolicyError('returned no reason')
  const { worker, again, launch } = verdict
  if (worker !== undefined) {
    const found = open.find(worker)
    if (found && accepts(found)) return { worker: found, reason }
    throw new PolicyError(`returned worker ${String(worker.id)}, which does not accept the job`)
  }
  if (again !== undefined && !Number.isFinite(again))
    throw new PolicyError(`returned again = ${again}; must be a time in milliseconds`)
  return {
    reason,
    ...(again !== undefined && { again }),
    ...(launch && room() > 0 && { launch: checkReason(launch)! }),
  }
}

function checkReason(reason: Reason | undefined): Reason | undefined {
  if (reason === undefined || (typeof reason === 'object' && typeof reason?.code === 'string')) return reason
  throw new PolicyError(`returned ${String(reason)} as reason; must be an object with code`)
}

function checkRank(rank: number): number {
  if (Number.isFinite(rank)) return rank
  throw new PolicyError(`returned ${rank}; must be a finite number`)
}

/** The decision that replaces one that failed. */
function firstOpen({ workers }: OpenList, record: JobRecord, accepts: Parts['accepts']): BrainVerdict {
  const worker = workers.slice(0, passOver).find((each) => accepts(each, record))
  return worker
    ? { worker, reason: hasRoom(worker) }
    : { reason: { code: 'no-room', openWorkers: workers.length } }
}

/** All scheduling policies by name. */

import { centralQueue } from './central-queue.ts'
import { classLimits } from './class-limits.ts'
import { leastConnections } from './least-connections.ts'
import { leastWork } from './least-work.ts'
import { leastWorkCapped } from './least-work-capped.ts'
import { leastWorkGuarded } from './least-work-guarded.ts'
import { packSpread } from './pack-spread.ts'
import { prequal } from './prequal.ts'
import { roundRobin } from './round-robin.ts'
import type { SchedulerFactory } from './scheduler.ts'
import { srpt } from './srpt.ts'
import { twoChoices } from './two-choices.ts'

export const schedulers = {
  'round-robin': roundRobin,
  'least-connections': leastConnections,
  'least-work': leastWork,
  'two-choices': twoChoices,
  prequal,
  srpt,
  'central-queue': centralQueue,
  'class-limits': classLimits,
  'pack-spread': packSpread,
  'least-work-capped': leastWorkCapped,
  'least-work-guarded': leastWorkGuarded,
} satisfies Record<string, SchedulerFactory>

export type SchedulerName = keyof typeof schedulers

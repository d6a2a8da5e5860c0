/** Presets: compositions and constants only. */

import type { SchedulerName } from '../brain/schedule/index.ts'
import type { DisciplineName } from '../worker/discipline.ts'

export interface Preset {
  /** A few lines for people. */
  description: string
  scheduler: SchedulerName
  discipline: DisciplineName
}

export const presets = {
  plimsoll: {
    description: 'Shortest remaining work first, with preemption. The default.',
    scheduler: 'srpt',
    discipline: 'srpt',
  },
  classic: {
    description: 'Least connections, all jobs at once: what most balancers do. For comparison.',
    scheduler: 'least-connections',
    discipline: 'sharing',
  },
} satisfies Record<string, Preset>

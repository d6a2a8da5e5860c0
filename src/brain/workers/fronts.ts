/** Jobs by the front that they came in through: a draining front ends only when all of them are answered. */

import type { Concern, Core } from '../core.ts'

export const fronts: Concern = {
  name: 'fronts',
  arrives(core, { job: { front } }) {
    if (front !== undefined) countFrontJob(core, front, 1)
    return undefined
  },
  over(core, { job: { front } }) {
    if (front !== undefined) countFrontJob(core, front, -1)
  },
}

function countFrontJob({ through }: Core, front: string, by: 1 | -1): void {
  const jobs = (through.get(front) ?? 0) + by
  if (jobs > 0) through.set(front, jobs)
  else through.delete(front)
}

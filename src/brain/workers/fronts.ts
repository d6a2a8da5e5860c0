/** Jobs by the front that they came in through: a draining front is ended only when all of them are answered. */

import type { Concern } from '../core.ts'
import { comeThrough, leaveFront } from './roles.ts'

export const fronts: Concern = {
  name: 'fronts',
  arrives(core, { job: { front } }) {
    if (front !== undefined) comeThrough(core, front)
    return undefined
  },
  over(core, { job: { front } }) {
    if (front !== undefined) leaveFront(core, front)
  },
}

/** All planted bugs, by topic. */

import { keeperBugs } from './keeper-bugs.ts'
import { parameterBugs } from './parameter-bugs.ts'
import type { Planted } from './plant.ts'
import { processBugs } from './process-bugs.ts'
import { requestBugs } from './request-bugs.ts'
import { seedBugs } from './seed-bugs.ts'
import { storeBugs } from './store-bugs.ts'

export const allBugs: Readonly<Record<string, readonly Planted[]>> = {
  ...processBugs,
  ...parameterBugs,
  ...requestBugs,
  ...seedBugs,
  ...keeperBugs,
  ...storeBugs,
}

/** Rates of faults for tests that make their own: only messages take their time. */

import type { FaultRates } from '../faults.ts'

export const noFaults: FaultRates = {
  ...{ lose: 0, double: 0, delayMs: 1, everyMs: 1e12, stallEveryMs: Infinity, untilMs: 1e12 },
  ...{ functionThrottles: 0, functionErrs: 0, functionDies: 0, functionHangs: 0 },
  provider: {
    ...{ launchFails: 0, launchHangs: 0, launchTwice: 0, twinHangs: 0, diesBooting: 0, bootsLate: 0 },
    ...{ silentFailure: 1, listEveryMs: 500, listLost: 0, listTwice: 0, listStaleMs: 0, listDelayMs: 0 },
    ...{ entryLost: 0, entryTwice: 0, ghost: 0, empty: 0, strayEveryMs: 1e12 },
  },
  brain: { everyMs: Infinity, pauseMs: 0, together: 0 },
}

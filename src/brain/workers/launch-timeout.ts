/** The boot timeout: a launch that has not joined in time has failed. */

import type { Concern } from '../core.ts'
import { awakeMs } from '../own-pauses.ts'
import { failLaunch } from './launching.ts'

export const launchTimeout: Concern = {
  name: 'launch timeout',
  timers: {
    launch(core, id) {
      const launch = core.launches.get(id)
      const bootMs = awakeMs(core, launch?.at ?? core.now)
      failLaunch(core, id, { code: launch?.adopted ? 'rejoin-timeout' : 'boot-timeout', bootMs })
    },
  },
}

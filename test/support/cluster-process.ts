/** A cluster in a process of its own, for tests that stop and continue it. Prints its addresses, and ends on SIGTERM. */

import { patient, startLive, stopLive } from './live.ts'

const live = await startLive({
  ...{ min: 2, max: 2 },
  // Five seconds of silence, so that only a brain that did not run could miss all heartbeats.
  limits: { ...patient, beatMs: 100, missedBeats: 50 },
})
process.once('SIGTERM', () => stopLive(live).then(() => process.exit()))
console.log(JSON.stringify({ url: live.url, adminUrl: live.adminUrl }))

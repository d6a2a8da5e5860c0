/**
 * The brain's concerns. Their order is their precedence: for each hook, they are called in this order.
 *
 * - An arriving job is counted, may be shed, and is checked against its deadline and then its client's rate limit. Only a
 *   job that is accepted counts for the retry budget and joins the shares and the turns.
 * - CPU figures are polled before a scaler that goes by them decides at the same time.
 * - After an event stalled attempts are ended and their workers drained. Then the fleet is scaled, then drained workers end, then outliers are ejected or, if the fleet has
 *   become too small, readmitted; then functions take what is still queued.
 * - Timers that are due at the same time fire in the order in which they were set, so the order of the concerns that set
 *   timers when a job is queued or started matters too.
 */

import type { Concern } from './core.ts'
import { functionAttempts } from './functions/function-attempts.ts'
import { overflow } from './functions/overflow.ts'
import { answerLimit } from './jobs/answer-limit.ts'
import { deadlines } from './jobs/deadlines.ts'
import { patience } from './jobs/patience.ts'
import { queueTimeout } from './jobs/queue-timeout.ts'
import { rateLimiting } from './jobs/rate-limiting.ts'
import { retryPauses } from './jobs/retry-pauses.ts'
import { shares } from './jobs/shares.ts'
import { shedding } from './jobs/shedding.ts'
import { turns } from './jobs/turns.ts'
import { recovering } from './recovering.ts'
import { cpu } from './workers/cpu.ts'
import { fronts } from './workers/fronts.ts'
import { heartbeats } from './workers/heartbeats.ts'
import { launchTimeout } from './workers/launch-timeout.ts'
import { draining } from './workers/leaving.ts'
import { outliers } from './workers/outliers.ts'
import { pings } from './workers/pings.ts'
import { scaling } from './workers/scaling.ts'
import { silence } from './workers/silence.ts'
import { stalls } from './workers/stalls.ts'

export const concerns: readonly Concern[] = [
  fronts,
  functionAttempts,
  shedding,
  deadlines,
  rateLimiting,
  retryPauses,
  shares,
  turns,
  silence,
  pings,
  heartbeats,
  launchTimeout,
  recovering,
  cpu,
  stalls,
  scaling,
  draining,
  outliers,
  overflow,
  queueTimeout,
  patience,
  answerLimit,
]

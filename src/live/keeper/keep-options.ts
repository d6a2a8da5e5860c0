/** How a cluster keeps requests. */

import type { QuotaLimits } from '../../keeper/quota.ts'

export interface KeepOptions {
  /** Where accepted jobs are stored: the URL of a database, or tables of DynamoDB. Default: in the data folder. */
  store?: string
  /** At the start, leaves the lease of the database to other clusters for ten seconds. */
  standby?: boolean
  /** How long results are kept. Default: a day. */
  keepMs?: number
  /** Space for results. Default: 1 GiB. */
  keepBytes?: number
  /** Limits of jobs without an answer. Default: 50,000 jobs, 1 GiB of requests, half of both for one client. */
  open?: QuotaLimits
  /** Limits of remembered jobs that have ended. Default: 1,000,000 jobs, 1 GiB for their rows. */
  ended?: { jobs: number; bytes: number }
  /** Hosts to which webhooks may go. Default: none. */
  webhookHosts?: readonly string[]
}

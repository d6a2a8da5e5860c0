/** The settings of the keeper, from the options of the cluster. */

import { join } from 'node:path'
import type { QuotaLimits } from '../../keeper/quota.ts'
import { checkJobStore } from '../../store/open-store.ts'
import type { Tokens } from '../../wire/token.ts'
import type { ClusterOptions } from '../cluster-options.ts'
import type { KeeperSettings } from './messages.ts'

const usualKeepMs = 24 * 3600 * 1000
const usualKeepBytes = 2 ** 30
const usualLimits: QuotaLimits = { jobs: 50_000, bytes: 2 ** 30, clientShare: 0.5 }
/** The cluster is given at most this many jobs at a time, and never more than half of its queue. */
const mostJobs = 500

/** Throws ConfigError if the store cannot be used. */
export function keeperSettings(
  { keep = {}, dataDir, queue, adminTls, frontLimits, joinAddress }: ClusterOptions,
  { operator: token, front }: Tokens,
  adminUrl: string,
): KeeperSettings {
  const { store = join(dataDir, 'jobs'), keepMs = usualKeepMs, keepBytes = usualKeepBytes } = keep
  checkJobStore(store)
  const url = adminTls ? adminUrl.replace('http:', 'https:') : adminUrl
  return {
    ...{ store, standby: keep.standby ?? false, keepMs, keepBytes },
    limits: keep.open ?? usualLimits,
    ended: keep.ended ?? { jobs: 1_000_000, bytes: 2 ** 30 },
    most: Math.max(1, Math.min(mostJobs, Math.floor(queue / 2))),
    processMb: frontLimits?.processMb ?? 0,
    admin: { url, token },
    ...(joinAddress && { join: { host: joinAddress.host, token: front } }),
    webhooks: { hosts: keep.webhookHosts ?? [], secretFile: join(dataDir, 'tokens', 'webhook') },
  }
}

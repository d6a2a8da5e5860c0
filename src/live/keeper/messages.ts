/** The messages between the keeper's process and the supervisor, which starts it and tells it about fronts. */

import type { AdminAddress } from '../../keeper/cluster-view.ts'
import type { QuotaLimits } from '../../keeper/quota.ts'

export interface KeeperSettings {
  /** Where jobs are stored: the URL of a database, or a folder. */
  store: string
  /** At the start, others may lead first. */
  standby: boolean
  /** How long results are kept, and how many bytes of them. */
  keepMs: number
  keepBytes: number
  limits: QuotaLimits
  /** How many jobs that have ended are remembered, and how much space their rows may take. */
  ended: { jobs: number; bytes: number }
  /** How many jobs the cluster is given at a time. */
  most: number
  /** Memory limit of the keeper's process, in MB; 0: as of fronts. */
  processMb: number
  admin: AdminAddress
  /** For fronts of other machines: where they may reach it, and their token. Undefined: there are none. */
  join?: { host: string; token: string }
  /** Where webhooks may go, and the file of the secret that signs them. */
  webhooks: { hosts: readonly string[]; secretFile: string }
}

export type ToKeeper =
  /** The first message; again when the settings have changed. */
  | { type: 'begin'; settings: KeeperSettings; token: string }
  /** The ports where fronts accept requests from the keeper. */
  | { type: 'fronts'; ports: readonly number[] }

export type FromKeeper =
  | { type: 'listening'; port: number; joinPort?: number }
  /** It has the lease of the store for this term; undefined: another cluster has it. */
  | { type: 'term'; term?: number }

/** How a cluster keeps requests. */

export interface KeepOptions {
  /** Where accepted jobs are stored: the URL of a database. Default: in the data folder. */
  store?: string
  /** At the start, leaves the lease of the database to other clusters for ten seconds. */
  standby?: boolean
  /** How long results are kept. Default: a day. */
  keepMs?: number
  /** Space for results. Default: 1 GiB. */
  keepBytes?: number
  /** Hosts to which webhooks may go. Default: none. */
  webhookHosts?: readonly string[]
}

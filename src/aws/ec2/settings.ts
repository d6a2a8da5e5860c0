/** What instances of a fleet are, and how they join. Checked by the caller. */
export interface Ec2Settings {
  /** Its tag is on all instances; no other cluster of the account and region has the same name. */
  cluster: string
  /** Default: that of the environment or the profile. */
  region?: string
  /** Launch template by ID (`lt-…`) or name, and its version. */
  template?: { name: string; version?: string }
  image?: string
  /** In order of preference. Default: that of the launch template. */
  types: readonly string[]
  /** In order of preference: each is in one zone. Default: that of the launch template, or the default one. */
  subnets: readonly string[]
  securityGroups: readonly string[]
  /** Name or ARN of the instance profile. */
  profile?: string
  spot: boolean
  /** True: metrics every minute, which cost extra, in place of every five minutes. */
  detailedMonitoring: boolean
  /** The script that an instance runs at its start, as `userData` fills it in. Default: `usualUserData`. */
  script?: string
  /** HOST:PORT at which instances reach the cluster. */
  join: string
  /** Arguments of `plimsoll worker` besides the address and the launch. */
  workerArgs: readonly string[]
}

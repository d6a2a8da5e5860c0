/** Checks at the start of a cluster whether its credentials may read metrics. */

import { ConfigError } from '../../lib/errors.ts'
import { isTransient } from '../repeat.ts'
import { type CloudWatchApi, readCpu } from './cpu-metrics.ts'

/** Reading the metrics of an instance that does not exist is no error. */
const noInstance = 'i-00000000000000000'

/** Rejects with a `ConfigError`. An error that may pass is none. */
export async function checkCloudWatch(api: Pick<CloudWatchApi, 'cpu'>, now: number): Promise<void> {
  try {
    await readCpu(api, [noInstance], now)
  } catch (cause) {
    if (isTransient(cause)) return
    throw new ConfigError(`--cpu = cloudwatch: ${(cause as Error).message}`, { cause })
  }
}

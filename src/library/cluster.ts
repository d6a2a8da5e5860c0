/** A cluster inside a program or a test. */

import type { CreateClusterOptions, RunningCluster } from './cluster-types.ts'

/**
 * Starts a cluster: front and brain in this process, workers in processes of their own. Resolves when the first worker is
 * ready. Rejects with a `ConfigError`, `PolicyError` or `StartError`; then nothing is left behind. Installs no signal
 * handlers, prints nothing and never ends the process.
 */
export async function createCluster(options: CreateClusterOptions = {}): Promise<RunningCluster> {
  const { openCluster } = await import('./open-cluster.ts')
  return openCluster(options)
}

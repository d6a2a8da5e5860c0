/** A real cluster for benchmarks, on free ports, with a temporary folder. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Cluster, type ClusterOptions, startCluster } from '../src/live/cluster.ts'

export const main = join(import.meta.dirname, '../src/cli/plimsoll.js')

/** One worker of one core by default. The cluster is ready when `use` is called, and stopped after it. */
export async function withCluster<T>(
  options: Pick<ClusterOptions, 'files'> & Partial<ClusterOptions>,
  use: (cluster: Cluster) => Promise<T>,
): Promise<T> {
  const dataDir = mkdtempSync(join(tmpdir(), 'plimsoll-bench-'))
  try {
    const cluster = await startCluster({
      dataDir,
      host: '127.0.0.1',
      port: 0,
      adminPort: 0,
      min: 1,
      max: 1,
      scheduler: 'srpt',
      discipline: 'srpt',
      jobMemoryMb: 256,
      slots: 17,
      queue: 1000,
      workerCommand: [process.execPath, main, 'worker'],
      log: () => {},
      ...options,
    })
    try {
      await cluster.ready
      return await use(cluster)
    } finally {
      await cluster.stop(0)
    }
  } finally {
    rmSync(dataDir, { recursive: true, force: true })
  }
}

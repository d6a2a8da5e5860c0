/** What all systems have in common: two workers of one core each, and their workloads. */
import { bundledWorkloads, workloadFiles } from '../../src/cli/cluster/workload-files.ts'

export const workerCount = 2
/** In cores. */
export const load = 0.9 * workerCount
export const workloadModules = workloadFiles(bundledWorkloads)
export const jobMemoryMb = 512
export const unlimitedSlots = 10_000
/** Time allowed for all workers to come up. */
export const bootLimitMs = 120_000

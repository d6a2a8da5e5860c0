/** What a part of the benchmark does around its harm: load, memory, and the account at the end. */

import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { KeptClients } from '../../test/support/hostile/kept-clients.ts'
import { family, rssMbOf } from '../../test/support/hostile/process-tree.ts'
import type { Service } from '../../test/support/hostile/service.ts'
import type { Up } from '../../test/support/hostile/up.ts'
import { SyncClients } from './sync-clients.ts'

/** Time for open jobs to end once nothing does harm any more. */
const settleMs = 120_000

export interface PartResult {
  sync: SyncClients['counts']
  jobs: KeptClients['counts']
  recomputed: number
  /** Why jobs were not accepted at once, and how often. */
  refusals: Readonly<Record<string, number>>
  troubles: string[]
  maxRssMb: number
}

/** Runs clients beside `harm`, and counts afterwards. */
export async function underLoad(
  service: Service,
  clusters: () => readonly Up[],
  harm: (clients: SyncClients, jobs: KeptClients) => Promise<void>,
): Promise<PartResult> {
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-chaos-'))
  const file = join(folder, 'runs')
  const memory = watchMemory(clusters)
  const sync = new SyncClients(service, 4)
  const jobs = new KeptClients(service, { clients: 8, file })
  try {
    await harm(sync, jobs)
    await sync.stop()
    await jobs.stop(settleMs)
    const recomputed = jobs.recomputed(runsIn(file))
    return {
      ...{ sync: sync.counts, jobs: jobs.counts, recomputed, maxRssMb: memory.mostMb },
      refusals: jobs.refusals,
      troubles: [...sync.troubles, ...jobs.troubles],
    }
  } finally {
    memory.stop()
    await sync.stop()
    await jobs.stop(0)
    rmSync(folder, { recursive: true, force: true })
  }
}

/** When each job has started to run, in milliseconds since 1970. */
function runsIn(file: string): Map<string, number[]> {
  const runs = new Map<string, number[]>()
  if (!existsSync(file)) return runs
  for (const line of readFileSync(file, 'utf8').split('\n').filter(Boolean)) {
    const [name = '', at] = line.split(' ')
    runs.set(name, [...(runs.get(name) ?? []), Number(at)])
  }
  return runs
}

/** The largest memory of all processes together. */
function watchMemory(clusters: () => readonly Up[]): { readonly mostMb: number; stop(): void } {
  let mostMb = 0
  const timer = setInterval(() => {
    const processes = clusters().flatMap((up) => family(up.pid))
    mostMb = Math.max(
      mostMb,
      processes.reduce((sum, { pid }) => sum + rssMbOf(pid), 0),
    )
  }, 1_000)
  return {
    get mostMb() {
      return mostMb
    },
    stop: () => clearInterval(timer),
  }
}

/** Lines that tell what a cluster thought, if jobs were lost. */
const mostLines = 60

/** Ends clusters, and says which of their processes did not end with them; prints their logs if jobs were lost. */
export async function stopAll(clusters: readonly Up[], jobsLost = 0): Promise<void> {
  for (const up of clusters) {
    if (jobsLost > 0) console.log([`log of ${up.url}:`, ...up.lines.slice(-mostLines)].join('\n  '))
    const left = await up.stop()
    if (left.length > 0) console.log(`left running: ${left.map(({ command }) => command).join('; ')}`)
  }
}

/** One system serves one seed's jobs. */
import { rmSync } from 'node:fs'
import type { Job } from '../../src/model.ts'
import { countChildren, cpuMsOf, machineCpuMs } from './cpu.ts'
import { drawJobs, type TimedJob } from './jobs.ts'
import { type Answered, play, workOff } from './play.ts'
import { type SystemName, startSystem } from './systems.ts'

/**
 * Before a run so many short requests are sent, so many at a time: then there are slots, and their code is compiled. To
 * start a slot and to compile the workloads in it takes a second of CPU time, and who starts slots because all are busy
 * is all the busier.
 */
const warmUp = { seed: 3000, requests: 500, atATime: 40, mostMs: 40 }

export interface Run {
  answers: Answered[]
  /** Slots that were there or were started meanwhile. */
  slots: number
  /** CPU time while jobs were served: of the system's processes that are no slots, of the sender, of the machine. */
  cpu: { systemMs: number; senderMs: number; machineMs: number; wallMs: number }
  /** As the brain saw them, if there is one. */
  jobs: Map<string, Job> | undefined
}

export async function runSystem(
  name: SystemName,
  jobs: readonly TimedJob[],
  { folder, data, signal }: { folder: string; data: string; signal: AbortSignal },
): Promise<Run> {
  try {
    const system = await startSystem(name, folder, data)
    const { workerPids, otherPids } = system
    const pids = [...workerPids, ...otherPids]
    const children = countChildren(workerPids)
    let answers: Answered[]
    let cpu: Run['cpu']
    let slots: number
    try {
      const first = drawJobs(warmUp.seed, warmUp.requests, warmUp.mostMs)
      await workOff(system.url, first, { wording: system.wording, lanes: warmUp.atATime, signal })
      const before = clocks(pids)
      answers = await play(system.url, jobs, system.wording, signal)
      const after = clocks(pids)
      cpu = {
        systemMs: after.systemMs - before.systemMs,
        senderMs: after.senderMs - before.senderMs,
        machineMs: after.machineMs - before.machineMs,
        wallMs: after.wallMs - before.wallMs,
      }
    } finally {
      // Each worker has a watchdog too.
      slots = children.stop() - workerPids.length
      await system.stop()
    }
    return { answers, slots, cpu, jobs: system.jobs?.() }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function clocks(pids: readonly number[]): Run['cpu'] {
  return {
    systemMs: cpuMsOf(pids),
    senderMs: cpuMsOf([process.pid]),
    machineMs: machineCpuMs(),
    wallMs: performance.now(),
  }
}

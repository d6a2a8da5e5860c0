/** Runs one system on one seed's jobs. */
import { rmSync } from 'node:fs'
import { cpuMsOf, machineCpuMs, watchChildren } from './cpu.ts'
import { drawJobs, type TimedJob } from './jobs.ts'
import { type Answered, play, workOff } from './play.ts'
import { type SeenJob, type SystemName, startSystem } from './systems.ts'

/**
 * Short requests that are sent before a run, so that slots exist and their code is compiled. Starting a slot and
 * compiling its workloads takes a second of CPU time, and a system that starts slots because all are busy becomes
 * even busier.
 */
const warmUp = { seed: 3000, requests: 500, atATime: 40, mostMs: 40 }

export interface Run {
  answers: Answered[]
  /** Slots that existed before or were started during the run. */
  slots: number
  /** CPU time during the run: of slots, of the system's other processes, of the sender, of the machine. */
  cpu: { slotsMs: number; systemMs: number; senderMs: number; machineMs: number; wallMs: number }
  /** Undefined: the system has no brain. */
  jobs: Map<string, SeenJob> | undefined
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
    let answers: Answered[]
    let cpu: Run['cpu']
    let slots: number
    try {
      const first = drawJobs(warmUp.seed, warmUp.requests, warmUp.mostMs)
      await workOff(system.url, first, { wording: system.wording, lanes: warmUp.atATime, signal })
      const children = watchChildren(workerPids)
      const before = clocks(pids)
      try {
        answers = await play(system.url, jobs, system.wording, signal)
      } finally {
        const after = clocks(pids)
        const { count, cpuMs } = children.stop()
        // Each worker also has a watchdog process.
        slots = count - workerPids.length
        cpu = {
          slotsMs: cpuMs,
          systemMs: after.systemMs - before.systemMs,
          senderMs: after.senderMs - before.senderMs,
          machineMs: after.machineMs - before.machineMs,
          wallMs: after.wallMs - before.wallMs,
        }
      }
    } finally {
      await system.stop()
    }
    return { answers, slots, cpu, jobs: await system.jobs?.() }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function clocks(pids: readonly number[]): Omit<Run['cpu'], 'slotsMs'> {
  return {
    systemMs: cpuMsOf(pids),
    senderMs: cpuMsOf([process.pid]),
    machineMs: machineCpuMs(),
    wallMs: performance.now(),
  }
}

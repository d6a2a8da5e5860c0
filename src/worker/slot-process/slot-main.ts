/**
 * The main module of a slot: loads the workloads, then runs the jobs that the pool sends on file descriptor 3, one at a
 * time. The argument of the process is a `SlotSetup` as JSON. Imports little, to start quickly.
 */
import { flushCompileCache } from 'node:module'
import { Socket } from 'node:net'
import { loadWorkloads } from '../../workload/load.ts'
import type { Workload } from '../../workload/workload.ts'
import { Channel, type FromSlot, type SlotFailure, type ToSlot } from '../slots/frames.ts'
import type { SlotSetup } from '../slots/slot-command.ts'
import { failureOf, loggedError } from './failure.ts'
import { ProcessState } from './process-state.ts'
import { cpuMsUsed, SlotJob } from './slot-job.ts'
import type { SlotMeter } from './slot-meter.ts'
import type { SmallJobs } from './small-jobs.ts'

const { dataDir, files, meter: metering } = JSON.parse(process.argv[2]!) as SlotSetup
const workloads = new Map<string, Workload>()
let current: SlotJob | undefined
let failure: SlotFailure | undefined
let meter: SlotMeter | undefined
let rewrote = false
/** After the workloads are loaded: what their modules change when they are imported is meant to stay. */
let state: ProcessState
let small: Promise<SmallJobs> | undefined

const channel = new Channel<FromSlot, ToSlot>(new Socket({ fd: 3, readable: true, writable: true }), {
  message(message) {
    if (message.type !== 'job') return current?.receive(message)
    current = new SlotJob(message, { channel, dataDir, meter, state })
    void current.run(workloads.get(message.workload)).then(() => {
      current = undefined
    })
  },
  // Chunks that arrive after the job ended are ignored.
  chunk: (chunk) => current?.body.push(chunk),
  small(frames) {
    // Most slots never run small jobs, and its modules would add a tenth to their start.
    small ??= import('./small-jobs.ts').then(
      ({ SmallJobs }) => new SmallJobs({ channel, dataDir, meter, state, workloads }),
    )
    void small.then((jobs) => jobs.receive(frames))
  },
  broken: () => die(),
  closed: () => die(),
})

/** The pool's process ended: kills this process and all processes that workloads started in its group. */
function die(): void {
  try {
    process.kill(-process.pid, 'SIGKILL')
  } catch {
    process.kill(process.pid, 'SIGKILL')
  }
}

// Also called for unhandled rejections. The process exits, because an uncaught exception may leave it in any state.
process.on('uncaughtException', (error) => {
  console.error(loggedError(error))
  failure = failureOf(error, 'crash')
  process.exit(1)
})

process.on('exit', () => {
  const work = current && meter?.done()
  channel.send({ type: 'dying', cpuMs: cpuMsUsed(), ...(failure && { failure }), ...work })
})

channel.send({ type: 'hello' })

/** Loads the workloads. `loaded` is called when that is done, and awaited before the slot is ready; `cold`: see `FromSlot`. */
export async function load(loaded: (cold: boolean) => Promise<void>): Promise<void> {
  try {
    if (metering) meter = await startMeter(metering)
    for (const workload of await loadWorkloads(files)) workloads.set(workload.name, workload)
    const cold = rewrote || hasStripper()
    await loaded(cold)
    // So that the compile cache has what most slots load later or never.
    if (cold) await import('./small-jobs.ts')
    // Node flushes the cache when a process exits, but slots are killed. Without new entries this writes nothing.
    flushCompileCache()
    state = new ProcessState()
    // The first check compiles its code, which takes a millisecond.
    state.changes()
    channel.send({ type: 'ready', cold })
  } catch (error) {
    channel.send({ type: 'unloadable', message: error instanceof Error ? error.message : String(error) })
    process.exit(1)
  }
}

/** Meters the workloads' modules that are loaded from now on. */
async function startMeter(options: NonNullable<SlotSetup['meter']>): Promise<SlotMeter> {
  const [{ meterModules }, { SlotMeter }] = await Promise.all([
    import('../../meter/hooks.ts'),
    import('./slot-meter.ts'),
  ])
  const runtime = meterModules(options, () => {
    rewrote = true
  })
  return new SlotMeter(runtime, options)
}

function hasStripper(): boolean {
  const { moduleLoadList = [] } = process as { moduleLoadList?: string[] }
  return moduleLoadList.some((name) => name.includes('amaro'))
}

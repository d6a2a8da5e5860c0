/**
 * The program of a slot: loads the workloads, then runs one job at a time as the pool tells it on file
 * descriptor 3. Its argument: a `SlotSetup` in JSON. Imports little, to start quickly.
 */
import { flushCompileCache } from 'node:module'
import { Socket } from 'node:net'
import { loadWorkloads, type Workload } from '../../workload/workload.ts'
import { Channel, type FromSlot, type SlotFailure, type ToSlot } from './frames.ts'
import { cpuMsUsed, failureOf, SlotJob } from './slot-job.ts'
import type { SlotMeter } from './slot-meter.ts'
import type { SlotSetup } from './slot-program.ts'

const { dataDir, files, meter: metering } = JSON.parse(process.argv[2]!) as SlotSetup
const workloads = new Map<string, Workload>()
let current: SlotJob | undefined
let failure: SlotFailure | undefined
let meter: SlotMeter | undefined
let rewrote = false

const channel = new Channel<FromSlot, ToSlot>(new Socket({ fd: 3, readable: true, writable: true }), {
  message(message) {
    if (message.type !== 'job') return current?.receive(message)
    current = new SlotJob(message, { channel, dataDir, meter })
    void current.run(workloads.get(message.workload)).then(() => {
      current = undefined
    })
  },
  // What arrives after the job ended belongs to nobody.
  chunk: (chunk) => current?.body.push(chunk),
  broken: () => die(),
  closed: () => die(),
})

/** The pool is gone: nobody wants this process, nor any that the workloads started in its group. */
function die(): void {
  try {
    process.kill(-process.pid, 'SIGKILL')
  } catch {
    process.kill(process.pid, 'SIGKILL')
  }
}

// A rejection that nobody handles arrives here too. What was thrown past every handler may have left anything
// half done, so the process does not go on.
process.on('uncaughtException', (error) => {
  console.error(error)
  failure = failureOf(error, 'crash')
  process.exit(1)
})

process.on('exit', () => {
  const work = current && meter?.done()
  channel.send({ type: 'dying', cpuMs: cpuMsUsed(), ...(failure && { failure }), ...work })
})

channel.send({ type: 'hello' })
try {
  if (metering) meter = await startMeter(metering)
  for (const workload of await loadWorkloads(files)) workloads.set(workload.name, workload)
  // Otherwise done at the end of a process, but slots are killed. If there is nothing new, nothing is written.
  flushCompileCache()
  channel.send({ type: 'ready', cold: rewrote || hasStripper() })
} catch (error) {
  channel.send({ type: 'unloadable', message: error instanceof Error ? error.message : String(error) })
  process.exit(1)
}

/** From here on what is loaded is metered, if it is of the workloads. */
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

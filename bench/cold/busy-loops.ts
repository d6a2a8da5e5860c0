/** Processes that keep the machine busy beside the benchmark, one per core. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { deathSignal } from '../../src/worker/processes/death-signal.ts'
import { workerCount } from '../live/setting.ts'

/** Returns a function that ends them. */
export function startBusyLoops(): () => Promise<void> {
  const [program, ...args] = [...deathSignal(), process.execPath, '-e', 'for (;;);']
  const loops = Array.from({ length: workerCount }, () => spawn(program!, args, { stdio: 'ignore' }))
  return async () => {
    const exits = loops.map((loop) => once(loop, 'exit'))
    for (const loop of loops) loop.kill('SIGKILL')
    await Promise.all(exits)
  }
}

/** Memory limits of slots. */
import { deathSignal } from '../processes/death-signal.ts'
import { ownDataMb } from '../processes/proc.ts'

/** Resident memory of the runtime itself, without its young generation, and of garbage that V8 collects late. */
const runtimeMb = 64

/** The smallest limit that leaves a job some memory. */
export const minMemoryMb = 96

/**
 * Heap sizes with which a job stays below the limit however much garbage it produces: V8 collects garbage before it
 * exceeds them, whereas the watch on resident memory cannot distinguish garbage from live memory.
 */
export function heapSizes(memoryMb: number): { oldMb: number; semiMb: number } {
  const semiMb = Math.min(16, Math.max(1, Math.floor(memoryMb / 32)))
  return { oldMb: Math.floor(memoryMb - runtimeMb - 2 * semiMb), semiMb }
}

/** A command prefix that starts a slot with limits. */
export function launcher(memoryMb: number): string[] {
  const limits = ['ulimit -c 0 2>/dev/null']
  const dataMb = ownDataMb()
  if (dataMb !== undefined) {
    // A hard limit for jobs that allocate faster than the watch samples. It bounds address space, much of which is never
    // used, so it is set above that of this process, which runs the same runtime, with a margin.
    const maxMb = dataMb + 1.25 * memoryMb + 128
    limits.push(`ulimit -d ${Math.ceil(maxMb * 1024)} 2>/dev/null`)
  }
  const script = [...limits, 'exec "$@"'].join('; ')
  return ['/bin/sh', '-c', script, 'slot', ...deathSignal()]
}

/** Reads how much of its resources this process uses. */

import { readdirSync, readFileSync, statSync } from 'node:fs'
import { totalmem } from 'node:os'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { getHeapStatistics } from 'node:v8'
import type { Readings } from './steps.ts'

/** Interval at which the delay of the event loop is sampled. */
const resolutionMs = 20
/** The part of the machine's or the container's memory that one process may use; jobs need the rest. */
const memoryPart = 0.5

export interface ReadingOptions {
  /** Memory limit of this process. 0: half of that of the machine or container. */
  memoryMb: number
  /** The share of the queue that is taken. Default: this process has no queue. */
  queue?(): number | undefined
}

export interface ResourceReader {
  read(): Readings
  close(): void
}

export function resourceReader({ memoryMb, queue }: ReadingOptions): ResourceReader {
  const memoryLimit = memoryMb > 0 ? memoryMb * 1024 * 1024 : memoryPart * availableMemory()
  const delay = monitorEventLoopDelay({ resolution: resolutionMs })
  delay.enable()
  return {
    read() {
      const loop = Math.max(0, delay.mean / 1e6 - resolutionMs) || 0
      delay.reset()
      const [descriptors, queued] = [usedDescriptors(), queue?.()]
      return {
        memory: usedMemory(memoryLimit),
        loop,
        ...(descriptors !== undefined && { descriptors }),
        ...(queued !== undefined && { queue: queued }),
      }
    },
    close: () => void delay.disable(),
  }
}

/** Bytes that this machine or this container has. */
function availableMemory(): number {
  const constrained = process.constrainedMemory()
  return constrained > 0 ? Math.min(constrained, totalmem()) : totalmem()
}

/** The larger of two shares: resident memory of its limit, and the heap of the limit at which Node ends the process. */
function usedMemory(limit: number): number {
  const { rss, heapTotal, heapUsed } = process.memoryUsage()
  // Free space of the heap is used again before the process grows.
  const resident = rss - (heapTotal - heapUsed)
  return Math.max(resident / limit, heapUsed / getHeapStatistics().heap_size_limit)
}

/** Undefined where the system does not tell. */
function usedDescriptors(): number | undefined {
  try {
    const [, limit] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1')) ?? []
    // Linux 6.2 and newer tell the number as the size of the folder; listing thousands takes milliseconds.
    const open = statSync('/proc/self/fd').size || readdirSync('/proc/self/fd').length
    return limit === undefined ? undefined : open / Number(limit)
  } catch (error) {
    // No descriptor is left for reading their number.
    return (error as NodeJS.ErrnoException).code === 'EMFILE' ? 1 : undefined
  }
}

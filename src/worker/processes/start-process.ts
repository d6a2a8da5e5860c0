/**
 * Starts processes so that a failure never throws: `spawn` throws for some errors (E2BIG, ENOMEM), reports others as an
 * event (ENOENT, EAGAIN), and without free descriptors (EMFILE) returns a process that has no streams.
 */

import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { EventEmitter } from 'node:events'
import { createInterface } from 'node:readline'

export type Spawn = (program: string, args: readonly string[], options: SpawnOptions) => ChildProcess

/** A process that cannot be started has no pid and reports an `error` event. Its streams may be missing. */
export function startProcess(
  command: readonly string[],
  options: SpawnOptions,
  spawnProcess: Spawn = spawn,
): ChildProcess {
  const [program, ...args] = command
  try {
    return spawnProcess(program!, args, options)
  } catch (error) {
    const failed = new NotStarted()
    process.nextTick(() => failed.emit('error', error))
    return failed as EventEmitter as ChildProcess
  }
}

/** Node's own class would signal the process group of this process. */
class NotStarted extends EventEmitter {
  readonly pid = undefined
  readonly exitCode = null
  readonly signalCode = null
  readonly killed = false
  kill(): boolean {
    return false
  }
}

/** Calls back with each line that the process prints. An output that breaks off ends with its last line. */
export function onOutputLine({ stdout, stderr }: ChildProcess, read: (line: string) => void): void {
  for (const input of [stdout, stderr]) {
    if (!input) continue
    createInterface({ input })
      .on('line', read)
      .on('error', () => {})
  }
}

/** Resolves when the process has ended and its output is read, or when it could not be started. */
export function endOf(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    child.once('close', () => resolve())
    // Failed signals and messages are errors too; then the process is alive.
    child.on('error', () => child.pid === undefined && resolve())
  })
}

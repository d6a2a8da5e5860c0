/** The event log of a live cluster. Without a file it is discarded. */

import { closeSync, fchmodSync, fstatSync, openSync, writeSync } from 'node:fs'
import { LogWriter } from '../brain/log/log-writer.ts'
import { ConfigError } from '../lib/errors.ts'
import { privateFile } from '../lib/private-files.ts'
import type { Action } from '../model/action.ts'
import type { Event } from '../model/event.ts'
import type { BrainSpec } from '../systems/brain-spec.ts'

export interface EventLogFile {
  entry(at: number, event: Event, actions: readonly Action[]): void
  close(): void
}

/** Longest delay before an entry is written. */
const flushMs = 500

export function eventLogFile(file: string | undefined, spec: BrainSpec): EventLogFile {
  if (file === undefined) return { entry() {}, close() {} }
  let descriptor: number
  try {
    descriptor = openSync(file, 'w', privateFile)
    // An existing file keeps its mode otherwise. It may also be a pipe or a device.
    if (fstatSync(descriptor).isFile()) fchmodSync(descriptor, privateFile)
  } catch (error) {
    throw new ConfigError(
      `--event-log = ${file}: cannot be written (${(error as NodeJS.ErrnoException).code})`,
    )
  }
  const writer = new LogWriter((chunk) => void writeSync(descriptor, chunk))
  writer.header(spec)
  const timer = setInterval(() => writer.flush(), flushMs).unref()
  return {
    entry: (at, event, actions) => writer.entry(at, event, actions),
    close() {
      clearInterval(timer)
      writer.flush()
      closeSync(descriptor)
    },
  }
}

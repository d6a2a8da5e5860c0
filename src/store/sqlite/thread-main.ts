/** The store's thread: performs the batches of the main thread one after another; it may block. */
import { unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { parentPort, workerData } from 'node:worker_threads'
import { diskFailed, resultCode } from '../../lib/sqlite/errors.ts'
import { withoutSqliteWarning } from '../../lib/sqlite/hide-warning.ts'
import type { Batches, Outcome } from './batch.ts'
import type { Call, Reply, ThreadData } from './calls.ts'
import { explainError } from './explain-error.ts'
import type { JobsFile } from './file.ts'

process.emitWarning = withoutSqliteWarning(process.emitWarning)
// Imported dynamically, because importing SQLite emits the warning.
const { contentsFolder, lockFolder, openFile } = await import('./file.ts')
const { batches } = await import('./batch.ts')

const data = workerData as ThreadData
const port = parentPort!
let first = data.first
let file: JobsFile | undefined
let opened: Batches | undefined
let lock: ReturnType<typeof lockFolder> | undefined

function open(): Batches {
  lock ??= lockFolder(data)
  file = openFile({ ...data, first })
  first = false
  opened = batches(file, data.store, { onRemoved, onFailure })
  return opened
}

function onRemoved(files: string[]): void {
  for (const name of files) {
    try {
      unlinkSync(join(contentsFolder(data.folder), name))
    } catch {
      // The next opening sweeps it.
    }
  }
}

/** What the disk holds after a failed operation is unknown to this connection: the next call opens the file again. */
function onFailure(error: unknown): void {
  if (resultCode(error) === diskFailed) closeFile()
}

function closeFile(): void {
  opened = undefined
  try {
    file?.close()
  } catch {
    // The caller reports the first failure.
  }
  file = undefined
}

function perform(calls: readonly Call[]): Outcome[] {
  const closing = calls.some(({ kind }) => kind === 'close')
  if (closing && !opened) return calls.map(() => ({ value: undefined }))
  const outcomes = (opened ?? open()).perform(calls)
  if (closing) {
    closeFile()
    lock?.close()
    lock = undefined
  }
  return outcomes
}

function reply(outcome: Outcome): Reply {
  if ('value' in outcome) return outcome
  const { message, code } = explainError(outcome.error, data.store)
  return { error: message, code }
}

port.on('message', (calls: Call[]) => {
  let outcomes: Outcome[]
  try {
    outcomes = perform(calls)
  } catch (error) {
    outcomes = calls.map(() => ({ error }))
  }
  port.postMessage(outcomes.map(reply))
})

let ready: Reply
try {
  open()
  ready = { value: undefined }
} catch (error) {
  ready = reply({ error })
}
port.postMessage([ready])

/** The ledger's thread: performs the calls of the main thread one after another; it may block. */
import { parentPort, workerData } from 'node:worker_threads'
import { withoutSqliteWarning } from '../../lib/sqlite/hide-warning.ts'
import { explainError } from './explain-error.ts'
import type { Store } from './store.ts'
import type { Call, Notice, Reply, ThreadData } from './thread.ts'

process.emitWarning = withoutSqliteWarning(process.emitWarning)
// Imported dynamically, because importing SQLite emits the warning.
const { openStore } = await import('./store.ts')
const { isDamage } = await import('../../lib/sqlite/errors.ts')

const { file, busyMs, pruneAfterMs, pruneEveryMs, retention } = workerData as ThreadData
const port = parentPort!
let store: Store | undefined
let isPruningScheduled = false

/** Bounded, so that a failing disk is not filled with damaged files. */
let quarantinesLeft = 3

function open(damaged?: { inode: number; error: unknown }): Store {
  const onQuarantine = (message: string) => {
    quarantinesLeft--
    port.postMessage({ notice: message } satisfies Notice)
  }
  store = openStore({
    file,
    busyMs,
    retention,
    damaged,
    onQuarantine: quarantinesLeft > 0 ? onQuarantine : undefined,
  })
  schedulePruning(pruneAfterMs)
  return store
}

function perform(call: Call): unknown {
  if (call.kind === 'close') return closeStore()
  return withStore((current) => {
    if (call.kind === 'write') return current.write(call.rows)
    if (call.kind === 'write-metrics') return current.writeMetrics(call.entries)
    if (call.kind === 'write-snapshots') return current.writeSnapshots(call.snapshots)
    if (call.kind === 'metrics') return current.metricsFor(call.key)
    if (call.kind === 'recent-metrics') return current.recentMetrics(call.query)
    if (call.kind === 'recent') return current.recent(call.query)
    if (call.kind === 'warm') return current.warm(call.query)
    if (call.kind === 'snapshots') return current.snapshots(call.workload)
    if (call.kind === 'count') return current.count()
  })
}

/** If the action finds the file damaged, repeats it on a new file. */
function withStore<T>(action: (store: Store) => T): T {
  const current = store ?? open()
  try {
    return action(current)
  } catch (error) {
    if (!isDamage(error)) throw error
    closeStore()
    return action(open({ inode: current.inode, error }))
  }
}

/** The next call opens the file again, so it also notices a file that was replaced or unlocked. */
function closeStore(): void {
  try {
    store?.close()
  } catch {
    // The caller reports the first failure.
  }
  store = undefined
}

function schedulePruning(delayMs: number): void {
  if (!isPruningScheduled) setTimeout(prune, delayMs)
  isPruningScheduled = true
}

/** Performs one step, so that calls never wait longer than that. */
function prune(): void {
  isPruningScheduled = false
  if (!store) return
  try {
    if (withStore((current) => current.prune())) schedulePruning(pruneEveryMs)
  } catch {
    // The next write fails for the same reason, and reports it.
    closeStore()
  }
}

port.on('message', (call: Call) => {
  let reply: Reply
  try {
    reply = { id: call.id, value: perform(call) }
    if (call.kind === 'write' || call.kind === 'write-metrics') schedulePruning(pruneEveryMs)
  } catch (error) {
    closeStore()
    reply = { id: call.id, error: explainError(error, file).message }
  }
  port.postMessage(reply)
})

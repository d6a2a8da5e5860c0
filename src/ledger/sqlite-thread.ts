/** The ledger's own thread: it does what the main thread asks, one call after the other, and may block. */
import { parentPort, workerData } from 'node:worker_threads'
import { withoutSqliteWarning } from './quiet.ts'
import type { Call, Notice, Reply, ThreadData } from './sqlite-calls.ts'
import type { Store } from './sqlite-store.ts'
import { explain } from './sqlite-trouble.ts'

process.emitWarning = withoutSqliteWarning(process.emitWarning)
// Loaded only now, because loading it is what warns.
const { openStore } = await import('./sqlite-store.ts')
const { isDamage } = await import('./sqlite-aside.ts')

const { file, busyMs, tidyAfterMs, tidyEveryMs, growth } = workerData as ThreadData
const port = parentPort!
let store: Store | undefined
let isTidying = false

/** A disk that damages whatever is written must not be filled with damaged files. */
let mayMove = 3

function open(damaged?: { inode: number; error: unknown }): Store {
  const onSetAside = (message: string) => {
    mayMove--
    port.postMessage({ notice: message } satisfies Notice)
  }
  store = openStore({ file, busyMs, growth, damaged, onSetAside: mayMove > 0 ? onSetAside : undefined })
  tidyIn(tidyAfterMs)
  return store
}

function perform(call: Call): unknown {
  if (call.kind === 'close') return letGo()
  return withoutDamage((current) => {
    if (call.kind === 'write') return current.write(call.rows)
    if (call.kind === 'write-metrics') return current.writeMetrics(call.entries)
    if (call.kind === 'write-snapshots') return current.writeSnapshots(call.snapshots)
    if (call.kind === 'metrics') return current.metricsFor(call.key)
    if (call.kind === 'recent') return current.recent(call.query)
    if (call.kind === 'warm') return current.warm(call.query)
    if (call.kind === 'snapshots') return current.snapshots(call.workload)
    if (call.kind === 'count') return current.count()
  })
}

/** Damage that is met while the file is in use is a reason to begin a new one, and to do it there. */
function withoutDamage<T>(action: (store: Store) => T): T {
  const current = store ?? open()
  try {
    return action(current)
  } catch (error) {
    if (!isDamage(error)) throw error
    letGo()
    return action(open({ inode: current.inode, error }))
  }
}

/** What failed is opened afresh by the next call: that also finds a file that was replaced or unlocked. */
function letGo(): void {
  try {
    store?.close()
  } catch {
    // The failure that led here is the one to report.
  }
  store = undefined
}

function tidyIn(pauseMs: number): void {
  if (!isTidying) setTimeout(tidy, pauseMs)
  isTidying = true
}

/** Between two steps whatever was asked meanwhile is done. */
function tidy(): void {
  isTidying = false
  if (!store) return
  try {
    if (withoutDamage((current) => current.tidy())) tidyIn(tidyEveryMs)
  } catch {
    // Whoever writes next meets the same trouble, and reports it.
    letGo()
  }
}

port.on('message', (call: Call) => {
  let reply: Reply
  try {
    reply = { id: call.id, value: perform(call) }
    if (call.kind === 'write' || call.kind === 'write-metrics') tidyIn(tidyEveryMs)
  } catch (error) {
    letGo()
    reply = { id: call.id, trouble: explain(error, file).message }
  }
  port.postMessage(reply)
})

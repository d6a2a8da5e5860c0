/** The ledger's own thread: it does what the main thread asks, one call after the other, and may block. */
import { parentPort, workerData } from 'node:worker_threads'
import { withoutSqliteWarning } from './quiet.ts'
import type { Call, Reply, ThreadData } from './sqlite-calls.ts'
import type { Store } from './sqlite-store.ts'
import { explain } from './sqlite-trouble.ts'

process.emitWarning = withoutSqliteWarning(process.emitWarning)
// Loaded only now, because loading it is what warns.
const { openStore } = await import('./sqlite-store.ts')

const { file, busyMs } = workerData as ThreadData
const port = parentPort!
let store: Store | undefined

function perform(call: Call): unknown {
  if (call.kind === 'close') return letGo()
  store ??= openStore(file, busyMs)
  if (call.kind === 'write') return store.write(call.rows)
  if (call.kind === 'write-metrics') return store.writeMetrics(call.entries)
  if (call.kind === 'metrics') return store.metricsFor(call.key)
  if (call.kind === 'recent') return store.recent(call.query)
  if (call.kind === 'count') return store.count()
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

port.on('message', (call: Call) => {
  let reply: Reply
  try {
    reply = { id: call.id, value: perform(call) }
  } catch (error) {
    letGo()
    reply = { id: call.id, trouble: explain(error, file).message }
  }
  port.postMessage(reply)
})

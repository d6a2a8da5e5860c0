/** Thread that reads parameters, one request at a time. It imports the workloads itself. */

import { parentPort, workerData } from 'node:worker_threads'
import { questioner } from '../../estimate/question.ts'
import { loadWorkloads } from '../../workload/load.ts'
import { serveCall, type ThreadAnswer, type ThreadCall, type ThreadData } from './params-call.ts'

const { files, code } = workerData as ThreadData
const answer = (message: ThreadAnswer) => parentPort!.postMessage(message)
const workloads = new Map((await loadWorkloads(files)).map((workload) => [workload.name, workload]))
const ask = questioner({ code, log: (log) => answer({ log }) })

parentPort!.on('message', (call: ThreadCall) => void serveCall({ workloads, ask, answer }, call))
answer({ ready: true })

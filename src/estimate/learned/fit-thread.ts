/** The thread that fits models, one after the other, when the cores have nothing better to do. */

import { readlinkSync } from 'node:fs'
import { constants, setPriority } from 'node:os'
import { basename } from 'node:path'
import { parentPort } from 'node:worker_threads'
import { fitModel } from './fit.ts'
import type { FitAnswer, FitCall } from './fitter.ts'

/** Jobs go first. Where a thread has no priority of its own, that is nothing to fail for. */
function giveWay(): void {
  try {
    setPriority(Number(basename(readlinkSync('/proc/thread-self'))), constants.priority.PRIORITY_LOW)
  } catch {}
}

giveWay()
parentPort!.on('message', ({ id, rows, options }: FitCall) => {
  parentPort!.postMessage({ id, model: fitModel(rows, options) } satisfies FitAnswer)
})

/** Thread that fits models one at a time. */

import { parentPort } from 'node:worker_threads'
import { fitModel } from './fit.ts'
import type { FitAnswer, FitCall } from './fitter.ts'

parentPort!.on('message', ({ id, rows, options }: FitCall) => {
  parentPort!.postMessage({ id, model: fitModel(rows, options) } satisfies FitAnswer)
})

/** The time to estimate a request, features included, and to learn from one. */
import { chain } from '../../src/estimate/chain.ts'
import { constant } from '../../src/estimate/constant.ts'
import { Intervals } from '../../src/estimate/interval.ts'
import { threadFitter } from '../../src/estimate/learned/fitter.ts'
import { learned } from '../../src/estimate/learned.ts'
import { memo } from '../../src/estimate/memo.ts'
import { median } from '../../src/simulate/summary.ts'
import { requestsOf } from './measure.ts'
import { featuresOf, type Row } from './row.ts'
import type { StreamName } from './stream.ts'
import { questionOf } from './trial.ts'

const repeats = 5

/** Medians over all requests of all workloads, in µs. */
export async function timing(
  measured: ReadonlyMap<StreamName, readonly Row[]>,
): Promise<Record<string, number>> {
  const estimateUs: number[] = []
  const learnUs: number[] = []
  const fitter = threadFitter(console.error, { rest: 0 })
  for (const [name, rows] of measured) {
    const model = learned({ fitter })
    const rule = chain(memo(), model, constant())
    const intervals = new Intervals()
    for (const [i, row] of rows.entries()) {
      // As in live operation: later rows correct the model of earlier ones.
      if (i % 20 === 0) await model.settled()
      const question = questionOf(name, row)
      const startedAt = performance.now()
      const guess = rule.guess(question)
      if (guess) intervals.learn(guess, row.work)
      rule.learn(question, row.work)
      learnUs.push((performance.now() - startedAt) * 1000)
    }
    await model.settled()
    const { workload, requests } = await requestsOf(name, 200)
    for (let repeat = 0; repeat < repeats; repeat++) {
      for (const { params, body } of requests) {
        const startedAt = performance.now()
        const features = featuresOf(workload, params, body)
        // An unknown key, so that the model answers.
        const guess = rule.guess({ workload: name, codeHash: 'bench', key: '', params, features })!
        intervals.around(guess)
        estimateUs.push((performance.now() - startedAt) * 1000)
      }
    }
  }
  await fitter.close()
  const rounded = (values: number[]) => Math.round(median(values) * 10) / 10
  return { estimate_us_p50: rounded(estimateUs), learn_us_p50: rounded(learnUs) }
}

/** Sees to it that the ledger has what was counted of each request, while it runs and when it is done. */
import type { OpenJob } from '../front/open-job.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { MetricsRow } from '../ledger/metrics.ts'
import type { AttemptToken } from '../model/attempt.ts'
import type { WorkDone } from '../model/cost.ts'

export interface MetricsKeeper {
  /** A worker says what an attempt has counted. */
  counted(worker: string, message: AttemptToken & WorkDone): void
  /** An attempt has been sent. */
  began(exchange: OpenJob): void
  /** The exchange is over, or another attempt takes the place of its last one. */
  over(exchange: OpenJob): void
  workerGone(worker: string): void
}

/**
 * `exchangeOf` gives the exchange of a job whose current attempt this is; what comes late has none. `fromStart`: there is a
 * row from the first attempt on, by the parameters as the workload takes them and, of a body, its size and hash.
 */
export function metricsKeeper(
  ledger: Ledger,
  code: Readonly<Record<string, string>>,
  exchangeOf: (worker: string, token: AttemptToken) => OpenJob | undefined,
  fromStart = false,
): MetricsKeeper {
  function record(exchange: OpenJob, done: WorkDone, running: boolean): void {
    const { job, hasBody, question } = exchange.parts
    // With a body, parameters alone do not say what was asked.
    if (hasBody && !fromStart) return
    const body = hasBody ? { body: question.key.split(' ').slice(-2).join(' ') } : {}
    const asked = { ...(question.params as object), ...body }
    const row: MetricsRow = {
      workload: job.workload,
      codeHash: code[job.workload] ?? '',
      parameters: fromStart ? JSON.stringify(asked) : question.key,
      work: done.work,
      tally: JSON.stringify(done.tally ?? {}),
      running,
      ...ownerOf(exchange),
      at: Date.now(),
    }
    ledger.recordMetrics(row)
  }

  // Whoever measured for an earlier start of this cluster does so no more.
  ledger.releaseMetrics({})
  return {
    began(exchange) {
      if (fromStart) record(exchange, { work: 0 }, true)
    },
    counted(worker, message) {
      const exchange = exchangeOf(worker, message)
      if (exchange) record(exchange, message, true)
    },
    over(exchange) {
      if (exchange.outcome === 'result' && exchange.cost) record(exchange, exchange.cost, false)
      else if (exchange.attempts > 0) ledger.releaseMetrics(ownerOf(exchange))
    },
    workerGone: (worker) => ledger.releaseMetrics({ worker }),
  }
}

function ownerOf({ worker, attempts, parts }: OpenJob): { worker: string; attempt: string } {
  return { worker, attempt: `${parts.job.id}/${attempts}` }
}

/** The front in the brain's process. Loaded on demand: with a supervisor, fronts run in processes of their own. */

import type { Server } from 'node:http'
import type { CountedCache } from '../front/cache/answer-cache.ts'
import { type RepeatCounters, repeatedAnswers } from '../front/cache/repeated-answers.ts'
import { Exchange } from '../front/exchange.ts'
import { frontServer } from '../front/front.ts'
import { FrontOverload } from '../front/overload/front-overload.ts'
import { Certificates } from '../front/tls/certificates.ts'
import { now } from './clock.ts'
import type { Core } from './core.ts'
import type { QuoteDescriber } from './quotes.ts'
import { changingService } from './serving.ts'

export interface MainFront {
  server: Server
  /** Undefined: answers are neither cached nor shared. */
  repeatCounters(): RepeatCounters | undefined
  /** Requests accepted so far. */
  accepted(): number
}

export function mainFront(
  { plan, records, stopping, overload: watch, isReady, tell, submit, ended }: Core,
  cache: CountedCache | undefined,
  describeQuote: QuoteDescriber,
): MainFront {
  const { options, serving, limits, quantities, clientOf, attemptToken: token } = plan
  const { estimator, log } = records
  const repeats = repeatedAnswers(options, cache, now)
  const certificates = limits.tls && new Certificates({ files: limits.tls, log })
  let accepted = 0
  const server = frontServer({
    service: changingService(serving, { limits, quantities, log }),
    ...{ repeats, estimator, describeQuote, limits, clientOf, now, log, isReady },
    overload: new FrontOverload({ watch, limits }),
    certificates,
    closed: () => stopping.problem(),
    submit(submission) {
      accepted++
      submit(new Exchange({ ...submission, token, tell, log, ended }))
    },
  })
  return { server, repeatCounters: () => repeats?.counters(cache), accepted: () => accepted }
}

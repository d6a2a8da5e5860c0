/** Accepts requests: the front in this process, and the registry of fronts in other processes. */

import type { Server } from 'node:http'
import type { CountedCache } from '../front/cache/answer-cache.ts'
import { cacheOf, type RepeatCounters, repeatedAnswers, repeatsOf } from '../front/cache/repeated-answers.ts'
import { Exchange } from '../front/exchange.ts'
import { frontServer } from '../front/front.ts'
import { FrontOverload } from '../front/overload/front-overload.ts'
import { now } from './clock.ts'
import type { Core } from './core.ts'
import { arrivals } from './fronts/arrivals.ts'
import { JoinedFronts } from './fronts/joined-fronts.ts'
import type { JoinedWorkers } from './joined-workers.ts'
import { type QuoteDescriber, quoteDescriber } from './quotes.ts'
import { changingService } from './serving.ts'

/** Reconnect grace period of fronts. */
const usualGraceMs = 5_000

export interface MainFront {
  server: Server
  /** The one cache of the cluster. Undefined: answers are not cached. */
  cache: CountedCache | undefined
  /** Undefined: answers are neither cached nor shared. */
  repeatCounters(): RepeatCounters | undefined
  /** Requests accepted so far. */
  accepted(): number
}

export interface Accepting {
  front: MainFront
  fronts: JoinedFronts
}

export function acceptRequests(
  core: Core,
  { workers }: { workers(): Pick<JoinedWorkers, 'addresses'> },
): Accepting {
  const describeQuote = quoteDescriber(core)
  return { front: mainFront(core, describeQuote), fronts: remoteFronts(core, describeQuote, workers) }
}

function mainFront(
  { plan, records, stopping, overload: watch, isReady, tell, submit, ended }: Core,
  describeQuote: QuoteDescriber,
) {
  const { options, serving, limits, quantities, clientOf, attemptToken: token } = plan
  const { estimator, log } = records
  const cache = cacheOf(options)
  const repeats = repeatedAnswers(options, cache, now)
  let accepted = 0
  const server = frontServer({
    service: changingService(serving, { limits, quantities, log }),
    ...{ repeats, estimator, describeQuote, limits, clientOf, now, log, isReady },
    overload: new FrontOverload({ watch, limits }),
    closed: () => stopping.problem(),
    submit(submission) {
      accepted++
      submit(new Exchange({ ...submission, token, tell, log, ended }))
    },
  })
  return { server, cache, repeatCounters: () => repeats?.counters(cache), accepted: () => accepted }
}

function remoteFronts(
  { plan, records, frontWorkers, isReady, tell, submit, ended }: Core,
  describeQuote: QuoteDescriber,
  workers: () => Pick<JoinedWorkers, 'addresses'>,
): JoinedFronts {
  const { options, serving, spec, beatMs, clientBy, limits, quantities, attemptToken } = plan
  const { estimator, log } = records
  const isWorker = (id: string) => frontWorkers.has(id)
  const { questionOf, jobOf } = arrivals({ estimator, serving, now, isWorker })
  return new JoinedFronts({
    beatMs,
    graceMs: options.frontGraceMs ?? usualGraceMs,
    welcome: () => ({
      ...{ epoch: spec.epoch, clientBy, limits, queue: options.queue },
      repeats: repeatsOf(options),
      quantities,
      attemptToken,
      workers: workers().addresses(),
      ready: isReady(),
    }),
    quoteOf(asked) {
      const question = questionOf(asked)
      return describeQuote(question, estimator.estimate(question))
    },
    ...{ isReady, jobOf, submit, tell, ended, log },
  })
}

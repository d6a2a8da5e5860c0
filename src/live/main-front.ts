/** The front in the brain's process. Loaded on demand: with a supervisor, fronts run in processes of their own. */

import type { CountedCache } from '../front/cache/answer-cache.ts'
import { type RepeatCounters, repeatedAnswers } from '../front/cache/repeated-answers.ts'
import type { FrontServer } from '../front/connection-steps.ts'
import type { KeeperLink } from '../front/durable/keeper-link.ts'
import { Exchange } from '../front/exchange.ts'
import { frontServer } from '../front/front.ts'
import { FrontOverload } from '../front/overload/front-overload.ts'
import { sweepTemporaryFiles } from '../front/temporary-file.ts'
import { Certificates } from '../front/tls/certificates.ts'
import type { DirectOrder } from '../wire/direct.ts'
import type { FromFront, ToFront } from '../wire/front-messages.ts'
import { now } from './clock.ts'
import type { Core } from './core.ts'
import type { Delegation } from './direct/delegation.ts'
import { insideFront } from './direct/held-workers.ts'
import { type FrontDirect, openDirect } from './fronts/direct.ts'
import type { JoinedWorkers } from './joined-workers.ts'
import type { QuoteDescriber } from './quotes.ts'
import { changingService } from './serving.ts'

export interface MainFront {
  server: FrontServer
  /** Undefined: answers are neither cached nor shared. */
  repeatCounters(): RepeatCounters | undefined
  /** Requests accepted so far. */
  accepted(): number
  /** What fronts are told. */
  receive(message: ToFront): void
  /** Further requests take the general path, and nothing more is reported. */
  leave(): void
}

export interface MainFrontParts {
  workers(): Pick<JoinedWorkers, 'known'>
  delegation(): Pick<Delegation, 'report' | 'standing'>
  keeper: KeeperLink
}

export function mainFront(
  core: Core,
  cache: CountedCache | undefined,
  describeQuote: QuoteDescriber,
  parts: MainFrontParts,
): MainFront {
  const { plan, records, stopping, overload: watch, isReady, tell, submit, ended } = core
  const { options, serving, limits, quantities, clientOf, attemptToken: token } = plan
  const { estimator, log } = records
  const repeats = repeatedAnswers(options, cache, now)
  void sweepTemporaryFiles()
  const certificates = limits.tls && new Certificates({ files: limits.tls, log })
  const overload = new FrontOverload({ watch, limits })
  const direct = directFor(core, overload, parts)
  let order: DirectOrder | undefined
  let accepted = 0
  const server = frontServer({
    service: changingService(serving, { limits, quantities, log }),
    ...{ repeats, estimator, describeQuote, limits, clientOf, now, log, isReady },
    ...{ overload, direct: direct.path, certificates, keeper: parts.keeper },
    closed: () => stopping.problem(),
    submit(submission) {
      accepted++
      submit(new Exchange({ ...submission, token, tell, log, ended }))
    },
  })
  return {
    server,
    repeatCounters: () => repeats?.counters(cache),
    accepted: () => accepted,
    receive(message) {
      if (message.type === 'direct') order = message
      // Workers that join have new addresses.
      if (message.type === 'direct' || message.type === 'worker' || message.type === 'worker-gone')
        direct.update(order)
    },
    leave: () => direct.close(),
  }
}

/** The direct path of this process: its reports are not sent, but handed over. */
function directFor(
  { plan, records, stopping }: Core,
  overload: FrontOverload,
  { workers, delegation }: MainFrontParts,
): FrontDirect {
  const { serving, limits, quantities, clientOf, attemptToken: token } = plan
  const send = (message: FromFront) => {
    if (stopping.isStopping) return
    if (message.type === 'direct') delegation().report(message)
    else if (message.type === 'direct-standing') delegation().standing(insideFront, message)
  }
  return openDirect(
    serving,
    { isUp: true, send },
    {
      ...{ limits, overload, quantities, clientOf, log: records.log },
      reach(worker) {
        const known = workers().known(worker)
        return known && { address: known.address, token }
      },
      closed: () => stopping.problem(),
    },
  )
}

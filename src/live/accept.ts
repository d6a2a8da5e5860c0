/** Accepts requests: the front in this process, if there is one, and the registry of fronts in other processes. */

import type { CountedCache } from '../front/cache/answer-cache.ts'
import { cacheOf, repeatsOf } from '../front/cache/repeated-answers.ts'
import type { KeeperLink } from '../front/durable/keeper-link.ts'
import type { ToFront } from '../wire/front-messages.ts'
import { now } from './clock.ts'
import type { Core } from './core.ts'
import type { Delegation } from './direct/delegation.ts'
import { insideFront } from './direct/held-workers.ts'
import { arrivals } from './fronts/arrivals.ts'
import { JoinedFronts } from './fronts/joined-fronts.ts'
import type { JoinedWorkers } from './joined-workers.ts'
import { type KeeperSource, supervisedKeeper } from './keeper/keeper-source.ts'
import type { MainFront } from './main-front.ts'
import { type QuoteDescriber, quoteDescriber } from './quotes.ts'

/** Reconnect grace period of fronts. */
const usualGraceMs = 5_000

export interface Accepting {
  /** Undefined: all fronts are in other processes. */
  front: MainFront | undefined
  fronts: JoinedFronts
  /** Tells all fronts, and that of this process. */
  tellFronts(message: ToFront): void
  /** Of all fronts that follow what they are told. */
  frontIds(): string[]
  /** The one cache of the cluster. Undefined: answers are not cached. */
  cache: CountedCache | undefined
}

export interface AcceptParts {
  workers(): Pick<JoinedWorkers, 'addresses' | 'known'>
  delegation(): Pick<Delegation, 'order' | 'report' | 'standing'>
  /** Without a supervisor, which has its own. */
  keeper: KeeperLink & KeeperSource
}

export async function acceptRequests(core: Core, parts: AcceptParts): Promise<Accepting> {
  const { options } = core.plan
  const describeQuote = quoteDescriber(core)
  const cache = cacheOf(options)
  const inside = options.supervisor ? undefined : await import('./main-front.ts')
  const front = inside?.mainFront(core, cache, describeQuote, parts)
  const fronts = remoteFronts(core, describeQuote, parts)
  return {
    ...{ cache, front, fronts },
    tellFronts(message) {
      fronts.broadcast(message)
      front?.receive(message)
    },
    frontIds: () => [...fronts.list().map(({ id }) => id), ...(front ? [insideFront] : [])],
  }
}

function remoteFronts(
  { plan, records, frontWorkers, leadership, isReady, tell, submit, ended }: Core,
  describeQuote: QuoteDescriber,
  { workers, delegation, keeper: inside }: AcceptParts,
): JoinedFronts {
  const { options, serving, beatMs, clientBy, limits, quantities, attemptToken } = plan
  const { estimator, log } = records
  const isWorker = (id: string) => frontWorkers.has(id)
  const { questionOf, jobOf, look } = arrivals({ estimator, serving, now, isWorker })
  const source = options.supervisor ? supervisedKeeper(options.supervisor) : inside
  const keeper = () => {
    const place = source.place()
    return place && { keeper: place }
  }
  const fronts = new JoinedFronts({
    beatMs,
    graceMs: options.frontGraceMs ?? usualGraceMs,
    welcome: () => ({
      ...{ epoch: leadership.epoch, clientBy, limits, queue: options.queue },
      repeats: repeatsOf(options),
      quantities,
      attemptToken,
      workers: workers().addresses(),
      direct: delegation().order,
      ready: isReady(),
      ...keeper(),
    }),
    wantKeeper: () => source.want(),
    quoteOf(asked) {
      const question = questionOf(asked)
      return describeQuote(question, estimator.estimate(question))
    },
    ...{ delegation, isReady, jobOf, look, submit, tell, ended, log },
  })
  source.onChange(() => fronts.broadcast({ type: 'keeper', ...keeper() }))
  return fronts
}

/**
 * The store as a keeper's process reaches it: calls take time, fail, arrive late or are never answered. Behind it is the
 * real store in memory, which outlives all processes.
 */

import { StoreError } from '../../../src/lib/errors.ts'
import type { Random } from '../../../src/lib/random.ts'
import type {
  Acceptance,
  Answer,
  Content,
  JobPage,
  JobQuery,
  JobStore,
  KeptAnswer,
  Lease,
  NewJob,
  Retention,
  StoredJob,
  Webhook,
} from '../../../src/store/store.ts'
import type { VirtualProcess, VirtualTime } from '../time.ts'
import type { Judge } from './judge.ts'

/** What the store suffers, each until a time. */
export class Weather {
  /** Writes fail. */
  full = 0
  /** Calls fail, and whether they were carried out is unknown. */
  shaky = 0
  /** The part of them that fails. */
  shakyOdds = 0
  slow = 0
  /** All calls fail. */
  unreachable = 0
}

export interface StoreParts {
  process: VirtualProcess
  time: VirtualTime
  memory: JobStore
  judge: Judge
  weather: Weather
  random: Random
}

type Kind = 'read' | 'write'
/** How a call fails; undefined: it does not. */
type Failure = { code: StoreError['code']; isWritten: boolean; lateMs: number } | undefined

const pageRows = 5
/** After this time, a call that has failed changes nothing more. */
const latestMs = 2_000

export class ReachedStore implements JobStore {
  readonly #parts: StoreParts

  constructor(parts: StoreParts) {
    this.#parts = parts
  }

  async lead(holder: string, ttlMs: number): Promise<Lease | undefined> {
    const { memory, judge, process } = this.#parts
    const lease = await this.#call('read', `lead ${holder}`, async () => {
      const led = await memory.lead(holder, ttlMs)
      if (led) judge.led(led.epoch)
      return led
    })
    return (
      lease && {
        epoch: lease.epoch,
        renew: async (ms) => {
          const term = judge.termOf(process)
          const isOurs = await this.#call('write', 'renew', () => lease.renew(ms))
          if (!isOurs) judge.learnedFenced(term, false)
          return isOurs
        },
        release: () => this.#call('write', 'release', () => lease.release()),
      }
    )
  }

  async accept(epoch: number, job: NewJob): Promise<Acceptance> {
    const { memory, judge } = this.#parts
    const body = await whole(job.request.body)
    return this.#call('write', `accept ${job.id}`, async () => {
      const acceptance = await memory.accept(epoch, { ...job, request: { ...job.request, body } })
      judge.wrote(epoch, `accepted ${job.id}`)
      if (acceptance.kind === 'accepted') judge.accepted(job)
      return acceptance
    })
  }

  async answer(epoch: number, id: string, answer: Answer): Promise<boolean> {
    const { memory, judge } = this.#parts
    await this.#mayBegin(answer.body)
    const body = await whole(answer.body)
    const isFirst = await this.#call('write', `answer ${id}`, async () => {
      const first = await memory.answer(epoch, id, { ...answer, body })
      judge.wrote(epoch, `answered ${id}`)
      if (first) judge.ended(id, 'answered', `${answer.status} ${Buffer.from(body).toString()}`)
      return first
    })
    judge.knowsEnd(this.#parts.process, id)
    return isFirst
  }

  async cancel(epoch: number, id: string, endedAt: number, facts?: unknown): Promise<boolean> {
    const { memory, judge } = this.#parts
    const isFirst = await this.#call('write', `cancel ${id}`, async () => {
      const first = await memory.cancel(epoch, id, endedAt, facts)
      judge.wrote(epoch, `cancelled ${id}`)
      if (first) judge.ended(id, 'cancelled', '')
      return first
    })
    judge.knowsEnd(this.#parts.process, id)
    return isFirst
  }

  noteStarted(epoch: number, id: string, startedAt: number): Promise<void> {
    const { memory, judge } = this.#parts
    return this.#call('write', `started ${id}`, async () => {
      await memory.noteStarted(epoch, id, startedAt)
      judge.wrote(epoch, `noted the start of ${id}`)
      judge.notedStart(id)
    })
  }

  noteWebhook(epoch: number, id: string, webhook: Webhook): Promise<void> {
    const { memory, judge } = this.#parts
    return this.#call('write', `webhook ${id} ${webhook.state}`, async () => {
      await memory.noteWebhook(epoch, id, webhook)
      judge.wrote(epoch, `noted the webhook of ${id}`)
      judge.notedWebhook(id, webhook)
    })
  }

  job(id: string): Promise<StoredJob | undefined> {
    const { memory, judge, process } = this.#parts
    return this.#call('read', `job ${id}`, () => {
      judge.read(process, id)
      return memory.job(id)
    })
  }

  byKey(client: string, key: string): Promise<StoredJob | undefined> {
    return this.#call('read', `by key ${key}`, () => this.#parts.memory.byKey(client, key))
  }

  body(id: string): Promise<AsyncIterable<Uint8Array> | undefined> {
    return this.#call('read', `body ${id}`, () => this.#parts.memory.body(id))
  }

  result(id: string): Promise<KeptAnswer | undefined> {
    return this.#call('read', `result ${id}`, () => this.#parts.memory.result(id))
  }

  list(query: JobQuery): Promise<JobPage> {
    return this.#call('read', 'list', () => this.#parts.memory.list(query))
  }

  async *open(): AsyncGenerator<StoredJob> {
    const seen = new Set<string>()
    for (;;) {
      const page = await this.#call('read', 'open', async () => {
        const rows = await Array.fromAsync(this.#parts.memory.open())
        return rows.filter(({ id }) => !seen.has(id)).slice(0, pageRows)
      })
      if (page.length === 0) return
      for (const { id } of page) seen.add(id)
      yield* page
    }
  }

  waitingWebhooks(limit: number): Promise<StoredJob[]> {
    const { memory, judge, process } = this.#parts
    return this.#call('read', 'webhooks', () => {
      judge.readWebhooks(process)
      return memory.waitingWebhooks(limit)
    })
  }

  disabledWebhooks(now: number): Promise<Map<string, number>> {
    return this.#call('read', 'disabled', () => this.#parts.memory.disabledWebhooks(now))
  }

  sharedSecret(proposal: string): Promise<string | undefined> {
    return this.#call('write', 'secret', () => this.#parts.memory.sharedSecret(proposal))
  }

  sweep(epoch: number, now: number, retention: Retention): Promise<number> {
    return this.#call('write', 'sweep', async () => {
      const removed = await this.#parts.memory.sweep(epoch, now, retention)
      this.#parts.judge.wrote(epoch, 'swept')
      return removed
    })
  }

  async close(): Promise<void> {}

  #call<T>(kind: Kind, what: string, act: () => Promise<T>): Promise<T> {
    const { process, time, judge, random, weather } = this.#parts
    const term = judge.termOf(process)
    const slow = weather.slow > time.now ? 30 : 1
    const travelMs = () => 0.2 + random.exponential() * 4 * slow
    return new Promise((resolve, reject) => {
      const reply = (ms: number, then: () => void) => time.schedule(time.now + ms, 'input', process, then)
      const refuse = (code: StoreError['code'], why: string) => {
        judge.log(() => `${process.name}: ${what}: ${code} ${why}`)
        reply(travelMs(), () => reject(new StoreError(`job store: ${why}`, code)))
      }
      time.plan(time.now + travelMs(), async () => {
        // It may have left the machine before the process died, or not.
        if (!process.alive && random.next() < 0.5) return
        const failure = this.#failure(kind)
        const isLate = failure !== undefined && failure.lateMs > 0
        if (failure) refuse(failure.code, isLate ? 'carried out later' : `written: ${failure.isWritten}`)
        if (failure && !failure.isWritten) return
        if (isLate) return void time.plan(time.now + failure.lateMs, () => void act().catch(() => {}))
        try {
          const value = await act()
          if (failure) return
          judge.log(() => `${process.name}: ${what}: ${brief(value)}`)
          reply(travelMs(), () => resolve(value))
        } catch (error) {
          if (failure) return
          const { code } = error as StoreError
          reply(travelMs(), () => {
            if (code === 'STORE_FENCED') judge.learnedFenced(term, what.startsWith('webhook '))
            reject(error)
          })
          judge.log(() => `${process.name}: ${what}: ${code}`)
        }
      })
    })
  }

  /** A long content is not read if its file cannot be created. */
  async #mayBegin(content: Content): Promise<void> {
    const { time, weather, random, process } = this.#parts
    const fails = Math.max(weather.full, weather.unreachable) > time.now
    if (content instanceof Uint8Array || !fails || random.next() < 0.5) return
    await new Promise<void>((resolve) => time.schedule(time.now + 1, 'input', process, resolve))
    throw new StoreError('job store: a file cannot be created')
  }

  #failure(kind: Kind): Failure {
    const { time, weather, random } = this.#parts
    if (weather.unreachable > time.now) return { code: 'STORE', isWritten: false, lateMs: 0 }
    if (weather.full > time.now && kind === 'write') return { code: 'STORE', isWritten: false, lateMs: 0 }
    if (!(weather.shaky > time.now) || random.next() > weather.shakyOdds) return undefined
    const draw = random.next()
    const isWritten = kind === 'write' && draw < 0.6
    return {
      code: 'STORE_UNKNOWN',
      isWritten,
      lateMs: isWritten && draw < 0.2 ? random.next() * latestMs : 0,
    }
  }
}

async function whole(content: Content): Promise<Uint8Array> {
  return content instanceof Uint8Array ? content : Buffer.concat(await Array.fromAsync(content))
}

function brief(value: unknown): string {
  if (Array.isArray(value)) return `${value.length} rows`
  if (typeof value !== 'object' || value === null) return String(value)
  return 'kind' in value ? String(value.kind) : 'state' in value ? String(value.state) : 'done'
}

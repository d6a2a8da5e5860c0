/** A keeper in a test: the test answers the jobs that it sends. */

import type { TestContext } from 'node:test'
import { MemoryJobStore } from '../../store/memory.ts'
import type { JobStore } from '../../store/store.ts'
import { keepAll } from '../../store/testing/samples.ts'
import type { KeepOrder } from '../../wire/kept.ts'
import { Keeper } from '../keeper.ts'
import type { KeeperParts } from '../keeper-parts.ts'
import type { QuotaLimits } from '../quota.ts'
import type { JobResponse, SendParts } from '../send-job.ts'

export const order = (changes: Partial<KeepOrder> = {}): KeepOrder => ({
  ...{ workload: 'w', client: 'c', isRepeatable: true, method: 'POST', target: '/w', fields: [] },
  ...{ quote: {}, waitMs: 0, ...changes },
})

/** A job that the front has, and how the test answers it. */
export interface Sent extends SendParts {
  answer(text: string, refusal?: string): void
  breakOff(): void
}

export interface Stand {
  keeper: Keeper
  store: JobStore
  sent: Sent[]
  /** Waits until as many jobs have been sent. */
  sentUntil(count: number): Promise<Sent>
  isFenced(): boolean
  /** Lets pending promises go on. */
  settle(): Promise<void>
  /** A keeper that begins after the death of this one. */
  next(): Promise<Stand>
}

const turn = () => new Promise((resolve) => setImmediate(resolve))

export async function settle(): Promise<void> {
  for (let i = 0; i < 20; i++) await turn()
}

export async function startKeeper(
  t: TestContext,
  store: JobStore = new MemoryJobStore(),
  most = 10,
  leads = () => true,
  limits: QuotaLimits = { jobs: 1_000, bytes: 2 ** 30, clientShare: 1 },
): Promise<Stand> {
  const lease = await store.lead('test', 1_000)
  const sent: Sent[] = []
  let isFenced = false
  const send: NonNullable<KeeperParts['send']> = (parts) => {
    const response = Promise.withResolvers<JobResponse>()
    parts.signal.addEventListener('abort', () => response.reject(new Error('aborted')))
    sent.push({
      ...parts,
      answer(text, refusal) {
        const body = (async function* () {
          yield Buffer.from(text)
        })()
        response.resolve({ status: refusal ? 503 : 200, fields: [], body, ...(refusal && { refusal }) })
      },
      breakOff: () => response.reject(new Error('ECONNRESET')),
    })
    return response.promise
  }
  const keeper = new Keeper({
    ...{ store, epoch: lease!.epoch, fronts: () => [1], token: 't', most, limits, send },
    retention: keepAll,
    ...{ now: () => 0, random: () => 0.5, cores: () => 2, log() {}, leads },
    fenced() {
      isFenced = true
    },
  })
  await keeper.start()
  t.after(() => keeper.close())
  return {
    ...{ keeper, store, sent, settle },
    async sentUntil(count) {
      while (sent.length < count) await turn()
      return sent[count - 1]!
    },
    isFenced: () => isFenced,
    next() {
      keeper.close()
      return startKeeper(t, store, most, leads, limits)
    },
  }
}

export const noBody = Buffer.alloc(0)

export async function resultOf({ store }: Stand, id: string): Promise<string | undefined> {
  const result = await store.result(id)
  return result && Buffer.concat(await Array.fromAsync(result.body)).toString()
}

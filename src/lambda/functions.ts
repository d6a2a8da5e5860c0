/** AWS Lambda as a provider of functions. */

import type { FunctionProvider, ProviderParts } from '../front/transports/function.ts'
import type { AttemptEnd, Upstream } from '../front/transports/transport.ts'
import { ConfigError, UnreachableError } from '../lib/errors.ts'
import { Outage } from '../lib/outage.ts'
import type { AttemptHead } from '../wire/messages.ts'
import { type FunctionNamer, functionNames } from './function-names.ts'
import { Seat } from './seat.ts'
import { type LambdaService, openLambda } from './service.ts'

/** A function has one core of this part of its memory, as AWS says. */
const coreMb = 1769
/** As the brain's own limit on silent functions: after this many times the predicted time nobody waits any more. */
const tolerance = 10
/** The function is given this much longer to say that it has reached the time limit. */
const graceMs = 1_000

/** `names`: see `functionNames`. `open`: in place of the AWS SDK. */
export function lambdaProvider(names: string, open: typeof openLambda = openLambda): FunctionProvider {
  const functions = functionNames(names)
  return {
    id: 'function:lambda',
    coldMs: 2_000,
    keepWarmMs: 300_000,
    speed: (memoryMb) => Math.min(1, memoryMb / coreMb),
    open: (parts) => {
      const lambda = new LambdaFunctions(functions.nameOf, parts, open(parts.limits.concurrency))
      lambda.check(functions.names)
      return lambda
    },
  }
}

class LambdaFunctions implements ReturnType<FunctionProvider['open']> {
  readonly id: string
  readonly #nameOf: FunctionNamer
  readonly #parts: ProviderParts
  readonly #service: Promise<LambdaService>
  readonly #seats = new Set<Seat>()
  readonly #free: Seat[] = []
  readonly #outage: Outage
  #closed = false

  constructor(nameOf: FunctionNamer, parts: ProviderParts, service: Promise<LambdaService>) {
    this.id = parts.id
    this.#nameOf = nameOf
    this.#parts = parts
    this.#service = service
    const words = {
      failed: (why: string) => `functions: ${why}`,
      works: (lost: number) => `functions: work again, after ${lost} failed attempts`,
    }
    this.#outage = new Outage(words, parts.log)
    // A missing package fails each attempt; the check logs it once.
    service.catch(() => {})
  }

  /** Logs what is wrong with these functions, before the first job needs them. */
  async check(names: readonly string[]): Promise<void> {
    try {
      const service = await this.#service
      for (const name of names) {
        const trouble = await service.check(name)
        if (trouble && !this.#closed) this.#outage.failed(trouble.message)
      }
    } catch (error) {
      this.#outage.failed((error as Error).message)
    }
  }

  list(): { pid: number | undefined; busy: boolean; workload?: string }[] {
    return [...this.#seats].flatMap(({ workload }) =>
      workload === undefined ? [] : [{ pid: undefined, busy: true, workload }],
    )
  }

  async invoke(
    workload: string,
    signal: AbortSignal,
    use: (upstream: Upstream) => Promise<AttemptEnd | undefined>,
  ): Promise<AttemptEnd | undefined> {
    const { concurrency } = this.#parts.limits
    const seat = this.#free.pop() ?? this.#newSeat()
    if (!seat) return { outcome: 'throttled', message: `all ${concurrency} functions are busy`, status: 429 }
    const abort = new AbortController()
    let broken: string | undefined
    try {
      seat.take(workload, {
        ...this.#useOf(workload),
        broke(why) {
          broken = why
        },
        signal: AbortSignal.any([signal, abort.signal]),
      })
      const end = await use(await seat.upstream)
      if (end && end.outcome !== 'throttled') this.#outage.works()
      return end
    } catch (error) {
      const why = broken ?? (error as Error).message
      if (!signal.aborted) this.#outage.failed(why, 1)
      throw new UnreachableError(why)
    } finally {
      // An attempt that was superseded may still wait for its function.
      abort.abort()
      seat.release()
      if (this.#closed) void seat.close()
      else this.#free.push(seat)
    }
  }

  /** The command starts local functions. */
  use(): void {}

  async close(): Promise<void> {
    this.#closed = true
    await Promise.all([...this.#seats].map((seat) => seat.close()))
    await this.#service.then(
      (service) => service.close(),
      () => {},
    )
  }

  #newSeat(): Seat | undefined {
    const { limits, token } = this.#parts
    if (this.#closed || this.#seats.size >= limits.concurrency) return undefined
    const seat = new Seat(this.id, token)
    this.#seats.add(seat)
    return seat
  }

  #useOf(workload: string) {
    const name = this.#nameOf(workload)
    if (name === undefined)
      throw new ConfigError(`--lambda-functions: names no function for the workload ${workload}`)
    return {
      name,
      code: this.#parts.code()[workload] ?? '',
      limitMs: (head: AttemptHead) => callLimitMs(head, this.#parts),
      invoke: async (payload: Buffer, limitMs: number, signal: AbortSignal) => {
        const service = await this.#service
        return service.invoke(name, payload, { limitMs: limitMs + graceMs, signal })
      },
    }
  }
}

/** The time that a call may take: a multiple of what its estimate predicts, within the function's own time limit. */
export function callLimitMs(
  { work, high = work }: Pick<AttemptHead, 'work' | 'high'>,
  { limits, workPerSecond, patienceMs }: Pick<ProviderParts, 'limits' | 'workPerSecond' | 'patienceMs'>,
): number {
  const expectedMs = (high / workPerSecond) * 1000
  return Math.min(limits.timeoutMs, Math.max(patienceMs, tolerance * expectedMs))
}

/** Mistakes of keepers that seeds of keepers in virtual time must find. */

import { keptSeeds as bySeeds, type Planted, planted } from './plant.ts'

const keeper = 'src/keeper/keeper.ts'
const deliveries = 'src/keeper/webhooks/deliveries.ts'
const store = 'src/store/memory.ts'

/** Both defences of a job that has ended. */
const sendsEnded: [string, string, string] = [
  keeper,
  "if (job.state !== 'open') return this.#over(open)\n",
  '',
]

export const keeperBugs: Readonly<Record<string, readonly Planted[]>> = {
  'acceptance of kept jobs': [
    planted(
      'a request that is accepted before it is stored',
      ['src/keeper/accept-job.ts', 'return untilKnown(async', 'const stored = untilKnown(async'],
      bySeeds,
      [
        'src/keeper/accept-job.ts',
        '}, pause)',
        "}, pause)\n  stored.catch(() => {})\n  return Promise.resolve({ kind: 'accepted' })",
      ],
    ),
    planted(
      'a job that is forgotten because the store did not know whether it was written',
      [keeper, 'if (isUnknown(error)) this.#lookFor(open)\n      else this', 'this'],
      bySeeds,
    ),
    planted(
      'idempotency keys that are remembered only in memory',
      ['src/keeper/accept-job.ts', '    ...(idempotency && { idempotency }),\n', ''],
      bySeeds,
      [keeper, '  #sent = 0\n', '  #keys = new Map<string, string>()\n  #sent = 0\n'],
      [
        keeper,
        '    // A repeat may find it in the store before this call goes on.\n',
        `const known = idempotency && this.#keys.get(idempotency.key)
         if (known !== undefined) return { id: known, endsAt: undefined, isRepeat: true, ended: () => this.ended(known) }
         if (idempotency) this.#keys.set(idempotency.key, id)\n`,
      ],
    ),
  ],
  'ends of kept jobs': [
    planted(
      'a result that is given up before it is stored',
      [
        keeper,
        '      await note()\n      this.#store.works()\n      this.#over(open)\n',
        '      this.#over(open)\n      await note()\n      this.#store.works()\n',
      ],
      bySeeds,
    ),
    planted(
      'an answer that broke off and is stored as if it were complete',
      [
        'src/keeper/answers.ts',
        'await chunks.next()',
        'await chunks.next().catch(() => ({ value: undefined, done: true as const }))',
      ],
      bySeeds,
    ),
    planted(
      'a refusal that passes as the answer',
      [keeper, 'response.refusal !== undefined && isPassing(response.refusal)', 'response.status === 0'],
      bySeeds,
    ),
    planted(
      'a cancel that is not stored',
      [
        keeper,
        'await this.#try(() => untilKnown(cancel, (ms) => this.#timers.pause(ms)))',
        'open !== undefined && cancel !== undefined',
      ],
      bySeeds,
    ),
    planted(
      'a connection that stays open because a long answer could not be stored',
      [keeper, '      open.abort?.abort()\n      this.#cutOff', '      this.#cutOff'],
      bySeeds,
    ),
    planted(
      'timers that go on after the keeper has closed',
      ['src/keeper/timers.ts', '      clearTimeout(timer)\n', ''],
      bySeeds,
    ),
  ],
  'attempts at kept jobs': [
    planted(
      'a job that is sent again after a restart, although it has ended',
      [store, "if (row.state === 'open') yield", 'yield'],
      bySeeds,
      sendsEnded,
    ),
    planted('a job that is sent although an end of unknown outcome was written', sendsEnded, bySeeds),
    planted(
      'a job that is sent after it was cancelled',
      [keeper, '      if (this.#isOver(open)) return\n      // The store may', '      // The store may'],
      bySeeds,
    ),
    planted(
      'a start that is not noted',
      [keeper, 'if (!open.isRepeatable) await store.noteStarted(epoch, open.id, now())\n', ''],
      bySeeds,
    ),
    planted(
      'a job that must not be repeated, and runs again after a restart',
      [keeper, 'if (job.isRepeatable || job.startedAt === undefined)', 'if (job)'],
      bySeeds,
    ),
    planted(
      'a job that must not be repeated, and runs again after it was cut off',
      [keeper, 'if (!began || open.isRepeatable) return', 'if (open) return'],
      bySeeds,
    ),
  ],
  'two keepers of kept jobs': [
    planted(
      'a store that lets an older leader write',
      [store, 'if (epoch !== this.#leader.epoch)', 'if (epoch > this.#leader.epoch)'],
      bySeeds,
    ),
    planted(
      'a keeper that goes on although another one leads',
      [keeper, 'if (!isFenced(error)) return this', 'if (error) return this'],
      bySeeds,
      // Each of the defences hides that the others are missing.
      [keeper, 'if (this.#parts.leads?.() === false) return undefined\n', ''],
      [keeper, 'if (leads?.() === false) return this.#later(open, noFrontMs)\n', ''],
    ),
  ],
  'leases of kept jobs': [
    planted(
      'a job that is sent after the lease ran out while it was read',
      [
        keeper,
        'if (leads?.() === false) return this.#later(open, noFrontMs)\n      began = true',
        'began = true',
      ],
      bySeeds,
    ),
    planted(
      'a lease that counts from the moment at which it was received',
      ['src/live/keeper/terms.ts', 'let renewedAt = askedAt', 'let renewedAt = performance.now()'],
      ['src/live/keeper/terms.test.ts', 'a lease whose answer arrives too late gives no right to send jobs'],
    ),
    planted(
      'a lease that counts from the answer to its renewal',
      ['src/live/keeper/terms.ts', 'renewed(startedAt)', 'renewed(performance.now())'],
      bySeeds,
    ),
  ],
  'webhooks of kept jobs': [
    planted(
      'a confirmed webhook that is sent again while the store fails',
      [deliveries, 'this.#unnoted.get(job.id) ?? ', ''],
      bySeeds,
    ),
    planted(
      'a webhook that is sent a second time beside the first',
      [
        deliveries,
        'await Promise.allSettled(due.map((job) => this.#deliver(job, job.webhook!)))',
        "(await Promise.all(due.map((job) => this.#deliver(job, job.webhook!)))).map(() => ({ status: 'fulfilled', reason: 0 }))",
      ],
      bySeeds,
    ),
    planted(
      'webhooks that wait for as long as the clock was set back',
      [deliveries, ' || leftMs > longestWaitMs(webhook.tries)', ''],
      bySeeds,
    ),
  ],
}

/** Reasons in words, for whoever asks why. */

import { inWords, type Words } from '../explain.ts'
import type { Reason } from '../model.ts'

const words: Words = {
  'core-free': (r) => `a core is free (${r.running} of ${r.cores} are busy)`,
  shorter: (r) =>
    `needs ${r.needMs} ms, and takes the core of ${r.preempts}, which needs another ${r.leftMs} ms`,
  'all-shorter': (r) =>
    `every running job on ${r.openWorkers} open workers needs less than its ${r.work} units`,
  'no-room': (r) =>
    r.openWorkers === 0 ? 'no worker has room' : `none of ${r.openWorkers} open workers may take it`,
  'next-in-turn': (r) => `its turn; it has ${r.jobs} jobs`,
  'fewest-jobs': (r) => `has the fewest jobs (${r.jobs})`,
  'least-work': (r) => `has the least work left (in ${r.jobs} jobs)`,
  'fewer-of-two': (r) => `of two drawn at random it has fewer jobs (${r.jobs}, the other ${r.other})`,
  'soonest-of-cold': (r) =>
    `of ${r.probes} probed, those with ${r.hotAbove} jobs or fewer count, and it answers soonest (in ${r.latencyMs} ms; ${r.jobs} jobs)`,
  'least-hot': (r) =>
    `all ${r.probes} that were probed have more than ${r.hotAbove} jobs, and it has the fewest (${r.jobs})`,
  'not-probed': (r) => `no worker that was probed may take it, and this one may (${r.jobs} jobs)`,
  room: (r) => `has room again (${r.jobs} of ${r.slots} slots are taken)`,
  finished: () => 'finished',
  error: (r) => `the workload failed: ${r.message}`,
  limit: (r) => `the job passed a limit: ${r.message}`,
  deadline: (r) => `its deadline passed ${r.afterMs} ms after it arrived`,
  'queue-full': (r) => `${r.waiting} jobs wait already, the limit is ${r.limit}`,
  poison: (r) => `it took down ${r.crashes} slots, and ${r.losses} slots or workers were lost under it`,
  attempts: (r) => `${r.attempts} attempts came to nothing, the last: ${r.cause}`,
  'outcome-unknown': (r) => `it was under way, must not be repeated, and was lost: ${r.cause}`,
  'client-gone': () => 'its client hung up',
  superseded: () => 'a newer attempt counts, or none does',
  'job-over': () => 'the job is over',
  'below-min': (r) => `${r.have} workers, the least is ${r.min}`,
  'above-max': (r) => `${r.have} workers, the most is ${r.max}`,
  'launch-failed': (r) => `the launch failed: ${r.message}`,
  'boot-timeout': (r) => `it did not join within ${r.bootMs} ms`,
  'not-expected': (r) => `nobody waits for launch ${r.launch}`,
  'unknown-worker': () => 'it was given up, or never joined',
  silent: (r) => `nothing was heard of it for ${r.silentMs} ms`,
  lost: (r) => `it is gone: ${r.message}`,
  drained: () => 'it is empty and was to go',
  operator: () => 'an operator asked for it',
}

/** A sentence part that tells why. */
export function explain(reason: Reason): string {
  return inWords(words, reason)
}

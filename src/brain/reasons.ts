/** Reasons in words, for whoever asks why. */

import { inWords, type Words } from '../explain.ts'
import type { Reason } from '../model.ts'
import { amount, count, span } from '../quantities.ts'

const words: Words = {
  'core-free': (r) => `a core is free there (${r.running} of ${r.cores} busy)`,
  shorter: (r) =>
    `it needs ${span(r.needMs)}, and job ${r.preempts}, whose core it takes, another ${span(r.leftMs)}`,
  'goes-first': (r) =>
    `${whyFirst(r)}; it takes the core of job ${r.preempts}, which needs another ${span(r.leftMs)}`,
  fairer: (r) =>
    `its client has had less than its share, and that of job ${r.preempts}, whose core it takes, has had more`,
  'owed-turn': (r) =>
    `it has been here for ${span(r.waitedMs)} and has run for ${span(r.ranMs)}, so it is owed a turn`,
  'deadline-near': (r) => `its deadline is in ${span(r.leftMs)}, and it must run now to be done by then`,
  'turn-over': (r) => `its turn is over, it has run for ${span(r.ranMs)} in all`,
  'said-again': () => 'its worker was away',
  'no-time': (r) =>
    `hardly any such job takes less than ${span(r.needMs)}, and its deadline leaves ${span(r.leftMs)}`,
  'no-time-for-all': (r) =>
    `it takes ${span(r.needMs)} or more, together with those whose deadlines are earlier ${span(r.togetherMs)} or more ` +
    `of all workers, and its deadline leaves ${span(r.leftMs)}`,
  'all-shorter': (r) =>
    `no core is free, and no job that runs on ${openWorkers(r)} has much more left than ` +
    `the ${r.needMs === undefined ? `${amount(r.work)} units` : span(r.needMs)} that it needs`,
  'core-soon': (r) =>
    `it could take the core of job ${r.insteadOf}, but one is about to be free, in ${span(r.freeMs)}`,
  'no-room': (r) =>
    r.openWorkers === 0
      ? `no worker ${r.workers === 0 ? 'is ready' : 'that can be reached has room for one more job'}`
      : `${openWorkers(r)} cannot take it, for want of memory or because it failed there`,
  'next-in-turn': (r) => `it is that worker's turn (it has ${count(r.jobs, 'job')})`,
  'fewest-jobs': (r) => `that worker has the fewest jobs (${r.jobs})`,
  'least-work': (r) => `that worker has the least work left (in ${count(r.jobs, 'job')})`,
  'fewer-of-two': (r) =>
    `of two workers drawn at random that one has fewer jobs (${r.jobs}, the other ${r.other})`,
  'soonest-of-cold': (r) =>
    `of ${r.probes} probed workers those with at most ${count(r.hotAbove, 'job')} count, and that one answers soonest (in ${span(r.latencyMs)}, with ${count(r.jobs, 'job')})`,
  'least-hot': (r) =>
    `all ${r.probes} workers that were probed have more than ${count(r.hotAbove, 'job')}, and that one has the fewest (${r.jobs})`,
  'not-probed': (r) =>
    `no worker that was probed may take it, and that one may (it has ${count(r.jobs, 'job')})`,
  'over-share': (r) =>
    `its client has had ${r.percent} % of the work that was done lately for ${r.clients} clients, so others go first`,
  'within-share': (r) =>
    `its client has had ${r.percent} % of the work that was done lately for ${r.clients} clients`,
  'own-launch': () => 'no worker can take it, and one is launched for it',
  'over-cap': (r) =>
    `${r.openWorkers === 0 ? 'no worker is open' : `${openWorkers(r)} would have more than ${grouped(Number(r.mostWork))} units of work with its ${grouped(Number(r.work))}`}` +
    `${r.kept === undefined ? '' : `; ${r.kept} gets no others until it is empty`}`,
  guarded: (r) =>
    r.openWorkers === 0
      ? 'no worker can be reached and has room'
      : `${count(r.booting, 'worker')} ${r.booting === 1 ? 'is' : 'are'} being launched, and until then ${openWorkers(r)} would have too much with it`,
  'average-work': (r) =>
    `a worker has ${grouped(Number(r.work))} units of work on average, ${r.percent} % of the most that one may have, and ${r.bound} % is the bound${changing(r)}`,
  'nobody-there': (r) =>
    `${count(r.waiting, 'job')} ${r.waiting === 1 ? 'waits' : 'wait'}, and no worker is there`,
  'first-worker': () => 'one to begin with',
  'cpu-step': (r) => `CPU is at ${r.percent} % on average, and ${r.bound} % is the bound${changing(r)}`,
  'fresh-workers': (r) =>
    `${count(r.fresh, 'worker')} ${r.fresh === 1 ? 'is' : 'are'} fresh, so nothing is decided`,
  'no-cpu': () => 'nothing is known of CPU yet',
  'batch-under-way': (r) =>
    `${count(r.workers, 'worker')} ${r.workers === 1 ? 'has' : 'have'} to be done first`,
  overdue: (r) => `it was to be answered within ${span(r.limitMs ?? r.afterMs)}, and the worker is alive`,
  'sent-again': (r) =>
    `the worker is alive and took too long (${times(r.times)}), and is given twice as long`,
  heartbeat: (r) =>
    `a job was to be answered within ${span(r.limitMs)}, and no sign of life came within ${span(r.answerMs)}`,
  room: (r) => `that worker has room again (${r.jobs} of ${r.slots} slots are taken)`,
  'core-taken': (r) =>
    `${other(r.by, r.workload)} takes its core${r.first ? ', for it goes first now' : ''}; that one needs ${span(r.needMs)}, this one another ${span(r.leftMs)}`,
  'not-chosen': (r) => `its worker's cores are for others now; it needs another ${span(r.leftMs)}`,
  'no-core': (r) =>
    `${count(r.jobs, 'job')} came there before it, and there ${r.cores === 1 ? 'is' : 'are'} ${count(r.cores, 'core')}`,
  'core-again': (r) => `${coreFor(r)}, and it needs another ${span(r.leftMs)}`,
  'core-at-last': (r) => coreFor(r),
  outgrew: (r) =>
    `${span(r.doneMs)} of work are done where ${span(r.wasMs)} were expected; now ${span(r.nowMs)} in all are expected`,
  crash: (r) => `it took its process down${said(r.message)}`,
  killed: (r) => `its process was ended from outside${said(r.message)}`,
  unready: (r) =>
    r.tries === undefined
      ? `the worker had no program for it${said(r.message)}`
      : `no program was well, at ${r.tries} tries`,
  unreachable: (r) =>
    r.gone === undefined
      ? `the connection to the worker failed${said(r.message)}`
      : `the worker was gone${said(r.gone)}`,
  refused: (r) => `the worker would not take it${said(r.message)}`,
  overflow: (r) =>
    `the fleet would come to it in ${span(r.waitMs)}, a function has it done in ${span(r.functionMs)}, ` +
    `and costs ${r.price} where that is worth ${r.worth}`,
  'overflow-deadline': (r) =>
    `the fleet cannot do it by its deadline, and a function has it done in ${span(r.functionMs)}`,
  'overflow-small': (r) =>
    `no worker takes it now, and its work of ${grouped(Number(r.work))} is little enough for a function`,
  throttled: (r) => `there was no function for it just then${said(r.message)}`,
  timeout: (r) => `it ran there as long as a function may${said(r.message)}`,
  'function-silent': (r) => `nothing was heard of the function for ${span(r.afterMs)}`,
  'worker-lost': (r) =>
    r.silentMs === undefined
      ? `the worker is gone${said(r.message)}`
      : `nothing was heard of the worker for ${span(r.silentMs)}`,
  'worker-ended': () => 'the worker was ended',
  pings: (r) => `${r.unanswered} pings in a row were not answered within ${span(r.answerMs)}`,
  'run-lost': () => 'by its own report the worker does not have it',
  go: () => 'the worker was ready; from here on it must not be repeated',
  finished: () => 'finished',
  error: (r) => `the workload failed${r.message === undefined ? '' : `: ${r.message}`}`,
  limit: (r) => `the job passed a limit: ${r.message}`,
  deadline: (r) => `its deadline passed ${span(r.afterMs)} after it arrived`,
  'queue-full': (r) => `${r.waiting} jobs wait already, the limit is ${r.limit}`,
  'rate-limit': (r) => {
    const [perMinute, have, work] = [r.perMinute, r.have, r.work].map(Number)
    const left = have! < 0 ? `used ${grouped(-have!)} more` : `${grouped(have!)} left`
    const seconds = grouped(Number(r.retryAfterMs) / 1000)
    return `client ${r.client} may use ${grouped(perMinute!)} units of work a minute and has ${left}; this needs about ${grouped(work!)}, which it may use in ${seconds} s`
  },
  poison: ({ crashes, losses }) =>
    [
      Number(crashes) > 0 && `it took its process down ${times(crashes)}`,
      Number(losses) > 0 && `its process or worker was lost ${times(losses)} while it ran`,
    ]
      .filter((part) => part !== false)
      .join(', and '),
  attempts: (r) => `${r.attempts} attempts came to nothing, the last one: ${r.cause}`,
  'outcome-unknown': (r) => `it was under way, must not be repeated, and was lost (${r.cause})`,
  'client-gone': () => 'its client hung up',
  superseded: () => 'a newer attempt counts, or none does',
  'job-over': () => 'the job is over',
  'below-min': (r) => `${count(r.have, 'worker')}, the least is ${r.min}`,
  'above-max': (r) => `${count(r.have, 'worker')}, the most is ${r.max}`,
  replace: (r) => `${workersNow(r)}, and ${r.wanted} are wanted`,
  utilisation: (r) =>
    `the cores are busy ${r.percent} % of the time, and ${r.target} % is the aim${changing(r)}`,
  concurrency: (r) => `${atOnce(r)}${changing(r)}`,
  'concurrency-panic': (r) => `${atOnce(r)}, far more than before${changing(r)}`,
  forecast: (r) => `${forecast(r)}${changing(r)}`,
  'forecast-crowd': (r) => `far more jobs come than usual; ${forecast(r)}${changing(r)}`,
  'forecast-strained': (r) =>
    `of the waiting that the promise leaves ${r.percent} % is used up; ${forecast(r)}${changing(r)}`,
  planned: (r) => `so it is planned${changing(r)}`,
  enough: (r) => `${workersNow(r)} are right`,
  'within-bounds': (r) => `${workersNow(r)}, from ${r.min} to ${r.max} may be there`,
  wanders: (r) => `${count(r.to, 'worker')} for a while`,
  'launch-failed': (r) => `the launch failed: ${r.message}`,
  'boot-timeout': (r) => `it did not join within ${span(r.bootMs)}`,
  'not-listed': (r) => `the provider has not had it in its list for ${span(r.missingMs)}`,
  stranger: (r) => `the provider has had it in its list for ${span(r.listedMs)}, and nobody knows it`,
  doubled: (r) => `its launch brought up ${r.machines} machines, which can only be ended together`,
  leaving: () => 'it was told to end',
  'not-expected': (r) => `nobody waits for launch ${r.launch}`,
  'unknown-worker': () => 'it was given up, or never joined',
  silent: (r) => `nothing was heard of it for ${span(r.silentMs)}`,
  lost: (r) => `it is gone: ${r.message}`,
  drained: (r) =>
    Number(r.together ?? 1) > 1 ? `all ${r.together} that were to go are empty` : 'it is empty and was to go',
  operator: () => 'an operator asked for it',
}

function workersNow({ have }: Reason): string {
  return count(have, 'worker')
}

function forecast({ cores, extra, waitingMs }: Reason): string {
  const waits = Number(waitingMs) > 0 ? `, and ${span(waitingMs)} of work wait, for ${extra} more` : ''
  return `what arrives will keep ${count(cores, 'core')} busy${waits}`
}

function atOnce({ jobs, each }: Reason): string {
  return `about ${amount(jobs)} jobs are there at the same time, and a worker is for ${amount(each)}`
}

/** How a step of the fleet is told: from so many workers to so many, and when the one that goes is expected to be empty. */
function changing({ have, to, drainMs }: Reason): string {
  const empty =
    drainMs === undefined
      ? ''
      : Number(drainMs) === 0
        ? '; it is empty'
        : `; it is empty in about ${span(drainMs)}`
  return `: ${have} → ${count(to, 'worker')}${empty}`
}

/** A number without a fraction, never too small, with commas between the thousands. */
function grouped(value: number): string {
  return Math.ceil(value).toLocaleString('en-US')
}

/** A sentence part that tells why. */
export function explain(reason: Reason): string {
  return inWords(words, reason)
}

type Fact = Reason[string] | undefined

/** Another job, with its workload where that is known. */
export function other(job: Fact, workload: Fact): string {
  return workload === undefined ? `job ${job}` : `job ${job} (${workload})`
}

/** In the way of a subject. */
export function openWorkers({ openWorkers: open }: Reason): string {
  return open === 1 ? 'the only open worker' : `the ${open} open workers`
}

function coreFor({ first }: Reason): string {
  return first ? 'it goes first now' : 'a core is free'
}

/** Whether for its deadline or for its age. */
function whyFirst({ deadlineMs, hereMs }: Reason): string {
  if (deadlineMs !== undefined)
    return `it must run now to be done by its deadline, which is in ${span(deadlineMs)}`
  return `it has been here for ${span(hereMs)} and is owed a turn`
}

function times(given: Fact): string {
  return given === 1 ? 'once' : given === 2 ? 'twice' : `${given} times`
}

function said(message: Fact): string {
  return message === undefined || message === '' ? '' : ` (${message})`
}

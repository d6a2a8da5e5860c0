/** Reasons in words, for whoever asks why. */

import { amount, count, span } from '../lib/quantities.ts'
import { inWords, type Words } from '../model/explain.ts'
import type { Reason } from '../model/reason.ts'

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
  pulls: (r) => `that worker asks for work (${r.jobs} of ${count(r.cores, 'core')} busy)`,
  'none-free': (r) =>
    r.free === 0 ? 'no worker asks for work' : `no worker that asks for work can take it (${r.free} do)`,
  dropped: (r) =>
    `it waited ${span(r.waitedMs)} for a worker, and ${r.lane} requests are dropped after ${span(r.limitMs)}`,
  'tier-missing': (r) => `${count(r.front, 'front')} and ${count(r.middle, 'middle')} were to come`,
  'tier-first': () => 'no middle is there, and nothing is done without one',
  'tier-usual': () => 'none was to come',
  'role-again': (r) => `it does not know yet that it is a ${r.role}`,
  'asked-idle': (r) => `it asked to end: it had nothing to do for ${span(r.ms)}`,
  'asked-slow': (r) => `it asked to end: requests come only every ${span(r.ms)}`,
  'too-few': (r) => `${count(r.left, r.role as string)} would remain, and ${r.least} must`,
  'too-often': (r) => `another was ended ${span(r.sinceMs)} ago, and one in ${span(r.everyMs)} may be`,
  coordinator: () => 'the coordinator always stays',
  'tiers-start': (r) =>
    `at hour ${r.hour} ${count(r.servers, 'server')} are best: ${count(r.front, 'front')}, the coordinator among them, and ${count(r.middle, 'middle')}`,
  'queue-long': (r) =>
    `${count(r.queued, 'request')} wait and ${count(r.servers, 'server')} are there or boot: ${count(r.middle, 'middle')} and ${count(r.front, 'front')} more`,
  'tiers-replace': (r) => `${count(r.front, 'front')} and ${count(r.middle, 'middle')} are missing`,
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
  'function-again': (r) => `the pause before try ${r.tries} of ${r.most} there is over`,
  'function-pause': (r) =>
    `try ${r.tries} in a function came to nothing, which may soon be otherwise: it is tried there again after a pause`,
  waited: (r) =>
    `it waited in the queue for ${span(r.waitMs)}, as long as an attempt may, and no worker had room for it`,
  retries: (r) => `it was tried again ${times(r.retries)} on workers, in vain (the last one: ${r.cause})`,
  pack: (r) =>
    `on average workers carry ${r.averagePercent} % of what they may, so jobs are packed: that worker carries most (${r.percent} %) and has room`,
  spread: (r) =>
    `on average workers carry ${r.averagePercent} % of what they may, so jobs are spread: that worker carries least (${r.percent} %)`,
  'no-capacity': (r) =>
    `it is ${r.class} (${grouped(Number(r.work))} units), and no worker can carry that besides what it has`,
  capacity: (r) => `that worker has room for it again, it carries ${r.percent} % of what it may`,
  'cpu-above': (r) =>
    `the workers' CPU is at ${r.percent} % (smoothed), above ${r.above} % for ${count(r.ticks, 'look')} in a row, ` +
    `and ${count(r.waiting, 'job')} wait${Number(r.launched) > 1 ? ' with more work than one worker may carry' : ''}${changing(r)}`,
  'cpu-below': (r) =>
    `the workers' CPU is at ${r.percent} % (smoothed), below ${r.below} % for ${count(r.ticks, 'look')} in a row${changing(r)}`,
  'cpu-within': (r) => `the workers' CPU is at ${r.percent} % (smoothed)`,
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
  'class-fits': (r) =>
    r.class === 'short'
      ? `it is short, and that worker has the fewest requests (${r.jobs})`
      : `it is ${className(r)}, and of the workers that may have one more such request that one has the fewest (${r.jobs})`,
  'fits-nowhere': (r) =>
    `it is ${className(r)}, and each of ${count(r.workers, 'worker')} is too busy or has too many such requests or others beside them` +
    (r.graceMs === undefined ? '' : `; it is placed anew in ${span(r.graceMs)}`),
  'starts-worker': (r) =>
    `it is ${className(r)} and fits on none of ${count(r.workers, 'worker')}, so it starts one and goes there in ${span(r.graceMs)}`,
  'own-worker': (r) => `it started that worker (launch ${r.launch})`,
  'own-worker-soon': (r) => `it goes to the worker that it started (launch ${r.launch})`,
  'own-worker-late': (r) => `the worker that it started (launch ${r.launch}) is not there yet`,
  misfit: (r) =>
    `a request ${className(r)} fits on none of ${count(r.workers, 'worker')}` +
    (Number(r.queued) >= Number(r.most) ? `, and ${r.queued} such wait already` : ''),
  'dead-replaced': (r) =>
    `${count(r.dead, 'worker')} died, and ${r.idle} of the others ${r.idle === 1 ? 'has' : 'have'} at most ${r.percent} % CPU, fewer than ${r.spare}`,
  'low-cpu': (r) =>
    `for ${r.times} looks in a row its CPU was at most ${r.percent} %; ${r.busy} of the ${r.workers} workers are above ${r.high} %`,
}

function className(r: Reason): string {
  return r.class === 'max' ? 'of the largest class' : `of the class ${r.class}`
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

/** Reasons in words, as parts of sentences. */

import { amount, count, span } from '../lib/quantities.ts'
import { inWords, type Words } from '../model/explain.ts'
import type { Reason } from '../model/reason.ts'
import { systemWords } from '../systems/reasons.ts'
import { changing, type Fact, grouped, openWorkers } from '../systems/wording.ts'

/** Why a job starts on a worker, or is queued. */
const placement: Words = {
  'core-free': (r) => `a core is free there (${r.running} of ${r.cores} busy)`,
  shorter: (r) =>
    `it needs ${span(r.needMs)}${withStart(r)} and preempts job ${r.preempts}, which needs another ${span(r.leftMs)}`,
  'goes-first': (r) => `${whyFirst(r)}; it preempts job ${r.preempts}, which needs another ${span(r.leftMs)}`,
  fairer: (r) =>
    `its client has had less than its share; it preempts job ${r.preempts}, whose client has had more`,
  'all-shorter': (r) =>
    `no core is free, and no running job on ${openWorkers(r)} has much more left than ` +
    `the ${r.needMs === undefined ? `${amount(r.work)} units` : span(r.needMs)} that it needs`,
  'core-soon': (r) =>
    `a core will be free in ${span(r.freeMs)}${insteadOfStart(r)}, so it does not preempt job ${r.insteadOf} yet`,
  'no-room': (r) =>
    r.openWorkers === 0
      ? `no ${r.workers === 0 ? 'worker is ready' : 'reachable worker has a free slot'}`
      : `${openWorkers(r)} cannot take it: too little memory, or it failed there before`,
  'next-in-turn': (r) => `that worker is next in turn (it has ${count(r.jobs, 'job')})`,
  'all-rest': (r) =>
    `attempts failed lately at every worker that can take it; that one is next in turn (it has ${count(r.jobs, 'job')})`,
  'no-share': (r) =>
    `nobody knows yet how long such requests take, and enough of them share the cores of all ${r.openWorkers} open workers`,
  unproven: (r) =>
    `nobody knows yet how long such requests take, so it shares the cores of the worker with the fewest jobs (${r.jobs})`,
  'beside-unproven': (r) =>
    `it shares the cores there with requests whose estimates are not proven yet (${r.running} running on ${r.cores})`,
  'fewest-jobs': (r) => `that worker has the fewest jobs (${r.jobs})`,
  'least-work': (r) => `that worker has the least work left (in ${count(r.jobs, 'job')})`,
  'fewer-of-two': (r) => `of two random workers that one has fewer jobs (${r.jobs}, the other ${r.other})`,
  'soonest-of-cold': (r) =>
    `of ${r.probes} probed workers those with at most ${count(r.hotAbove, 'job')} count, and that one has the lowest latency (${span(r.latencyMs)} with ${count(r.jobs, 'job')})`,
  'least-hot': (r) =>
    `all ${r.probes} probed workers have more than ${count(r.hotAbove, 'job')}, and that one has the fewest (${r.jobs})`,
  'not-probed': (r) => `no probed worker may take it, but that one may (it has ${count(r.jobs, 'job')})`,
  room: (r) => `that worker has a free slot (${r.jobs} of ${r.slots} taken)`,
  overflow: (r) =>
    `the fleet would start it in ${span(r.waitMs)}, a function finishes it in ${span(r.functionMs)}, ` +
    `and costs ${r.price} where the time saved is worth ${r.worth}`,
  'overflow-deadline': (r) =>
    `the fleet cannot meet its deadline, and a function finishes it in ${span(r.functionMs)}`,
  'overflow-small': (r) =>
    `no worker can take it now, and its work of ${grouped(r.work)} units is small enough for a function`,
  'retry-pause': (r) =>
    `${count(Number(r.tries) - 1, 'retry', 'retries')} did not help, so the next one pauses for ${span(r.ms)}`,
  'retry-budget': (r) => `retries have used up ${r.percent} % of the admitted work`,
  'function-again': (r) => `the backoff before attempt ${r.tries} of ${r.most} in a function is over`,
  'function-pause': (r) =>
    `attempt ${r.tries} in a function failed with a temporary error; it is repeated there after a backoff`,
}

/** What happens to a job after it was placed. */
const progress: Words = {
  'over-share': (r) =>
    `its client has had ${r.percent} % of the recent work of ${r.clients} clients, so others go first`,
  'within-share': (r) => `its client has had ${r.percent} % of the recent work of ${r.clients} clients`,
  'owed-turn': (r) =>
    `it arrived ${span(r.waitedMs)} ago and has run for ${span(r.ranMs)}, so it gets a turn`,
  'deadline-near': (r) => `its deadline is in ${span(r.leftMs)}, and it must run now to meet it`,
  'turn-over': (r) => `its turn is over: it has run for ${span(r.ranMs)} in all`,
  'said-again': () => 'its worker was disconnected',
  'core-taken': (r) =>
    `${other(r.by, r.workload)} preempts it${r.first ? ' because that one goes first' : ''}: ${r.by} needs ${span(r.needMs)}, this one another ${span(r.leftMs)}`,
  'not-chosen': (r) => `other jobs have the cores of its worker; it needs another ${span(r.leftMs)}`,
  'no-core': (r) => `${count(r.jobs, 'job')} arrived there before it, for ${count(r.cores, 'core')}`,
  'core-again': (r) => `${coreFor(r)}, and it needs another ${span(r.leftMs)}`,
  'core-at-last': (r) => coreFor(r),
  outgrew: (r) =>
    `it has done ${span(r.doneMs)} of work and goes on; the estimate was ${span(r.wasMs)} in all and is now ${span(r.nowMs)}`,
  go: () => 'the worker is ready; from here on the job must not be repeated',
  adopted: () => 'an earlier brain had started it',
  unclaimed: () => 'an earlier brain had started it, and no front waits for it',
  superseded: () => 'a newer attempt counts, or none does',
  'job-over': () => 'the job is over',
}

/** Why an attempt failed. */
const failures: Words = {
  overdue: (r) => `its answer took longer than ${span(r.limitMs ?? r.afterMs)}, and the worker is alive`,
  'timed-out': (r) => `no answer came within ${span(r.limitMs ?? r.afterMs)}`,
  'sent-again': (r) =>
    `the worker is alive but took too long (${times(r.times)}), and now gets twice the time`,
  stalled: (r) =>
    r.percent === undefined
      ? 'it stood still there'
      : `${r.percent === 0 ? 'a job stood still there' : `a job did ${r.percent} % of the work there that it should do`} for ${span(r.ms)}`,
  crash: (r) => `it crashed its process${said(r.message)}`,
  killed: (r) => `its process was killed from outside${said(r.message)}`,
  unready: (r) =>
    r.tries === undefined
      ? `the worker had no healthy program${said(r.message)}`
      : `no program was healthy in ${count(r.tries, 'attempt')}`,
  unreachable: (r) =>
    r.gone === undefined
      ? `the connection to the worker failed${said(r.message)}`
      : `the worker was lost${said(r.gone)}`,
  refused: (r) => `the worker rejected it${said(r.message)}`,
  throttled: (r) => `no function was available${said(r.message)}`,
  timeout: (r) => `it reached the time limit of functions${said(r.message)}`,
  'function-silent': (r) => `the function sent nothing for ${span(r.afterMs)}`,
  'worker-lost': (r) =>
    r.silentMs === undefined
      ? `the worker was lost${said(r.message)}`
      : `the worker sent no heartbeat for ${span(r.silentMs)}`,
  'worker-ended': () => 'the worker was terminated',
  'run-lost': () => 'by its own report the worker does not have it',
}

/** How a job ends. */
const ends: Words = {
  finished: () => 'finished',
  error: (r) => `the workload failed${r.message === undefined ? '' : `: ${r.message}`}`,
  limit: (r) => `the job exceeded a limit: ${r.message}`,
  'cost-limit': (r) => `the job cost more than its client allows: ${r.message}`,
  deadline: (r) => `its deadline passed ${span(r.afterMs)} after it arrived`,
  'no-time': (r) =>
    `nearly all such jobs need more than ${span(r.needMs)}, and its deadline is in ${span(r.leftMs)}`,
  'no-time-for-all': (r) =>
    `it needs at least ${span(r.needMs)}, with the jobs of earlier deadlines at least ${span(r.togetherMs)} ` +
    `of all workers, and its deadline is in ${span(r.leftMs)}`,
  waited: (r) => `it waited in the queue for ${span(r.waitMs)}, the limit, and no worker had room for it`,
  retries: (r) =>
    `it was retried ${times(r.retries)} on workers, and every attempt failed (the last one: ${r.cause})`,
  dropped: (r) =>
    `it waited ${span(r.waitedMs)} in the queue, and ${r.lane} requests are dropped after ${span(r.limitMs)}`,
  'queue-full': (r) => `${r.waiting} jobs are queued, and the limit is ${r.limit}`,
  overloaded: (r) =>
    `the cluster is overloaded (pressure ${r.pressurePercent} %) and sheds the most expensive ${r.shedPercent} % of such requests; ` +
    `this one needs about ${grouped(r.work)} units of work, and client ${r.client} has ${r.percent} % of the recent work of ${count(r.clients, 'client')}`,
  'rate-limit': (r) => {
    const have = Number(r.have)
    const left = have < 0 ? `used ${grouped(-have)} more` : `${grouped(have)} left`
    const seconds = grouped(Number(r.retryAfterMs) / 1000)
    return `client ${r.client} may use ${grouped(r.perMinute)} units of work a minute and has ${left}; this request needs about ${grouped(r.work)}, available in ${seconds} s`
  },
  poison: ({ crashes, losses }) =>
    [
      Number(crashes) > 0 && `it crashed its process ${times(crashes)}`,
      Number(losses) > 0 && `its process or worker was lost ${times(losses)} while it ran`,
    ]
      .filter((part) => part !== false)
      .join(', and '),
  'no-progress': (r) => `it stood still in ${count(r.tries, 'attempt')}, the last time for ${span(r.ms)}`,
  attempts: (r) => `${r.attempts} attempts failed, the last one: ${r.cause}`,
  'outcome-unknown': (r) => `it had started, must not be repeated, and was lost (${r.cause})`,
  'client-gone': () => 'its client disconnected',
}

/** Why the fleet grows or shrinks. */
const scaling: Words = {
  'below-min': (r) => `${workers(r)}, and the minimum is ${r.min}`,
  'above-max': (r) => `${workers(r)}, and the maximum is ${r.max}`,
  replace: (r) => `${workers(r)}, and ${r.wanted} are wanted`,
  utilisation: (r) => `CPU utilisation is ${r.percent} %, and the target is ${r.target} %${changing(r)}`,
  concurrency: (r) => `${atOnce(r)}${changing(r)}`,
  'concurrency-panic': (r) => `${atOnce(r)}, far more than before${changing(r)}`,
  forecast: (r) => `${forecast(r)}${changing(r)}`,
  'forecast-crowd': (r) => `arrivals surge; ${forecast(r)}${changing(r)}`,
  'forecast-strained': (r) =>
    `${r.percent} % of the waiting that the promise allows is used; ${forecast(r)}${changing(r)}`,
  planned: (r) => `the plan asks for it${changing(r)}`,
  enough: (r) => `${workers(r)} are enough`,
  'within-bounds': (r) => `${workers(r)}, between the bounds ${r.min} and ${r.max}`,
  wanders: (r) => `${count(r.to, 'worker')} for a while`,
}

/** What happens to workers and launches. */
const fleet: Words = {
  'role-again': (r) => `the worker does not report its role (${r.role}) yet`,
  heartbeat: (r) =>
    `${r.limitMs === undefined ? 'it could not be reached' : `an answer was overdue after ${span(r.limitMs)}`}, and no heartbeat came within ${span(r.answerMs)}`,
  pings: (r) => `${r.unanswered} pings in a row were not answered within ${span(r.answerMs)}`,
  'launch-failed': (r) => `the launch failed: ${r.message}`,
  'rejoin-timeout': (r) => `it did not join again within ${span(r.bootMs)}`,
  'boot-timeout': (r) => `it did not join within ${span(r.bootMs)}`,
  'not-listed': (r) => `the provider has not listed it for ${span(r.missingMs)}`,
  stranger: (r) => `the provider has listed it for ${span(r.listedMs)}, and the cluster does not know it`,
  doubled: (r) => `its launch created ${r.machines} machines, which can only be terminated together`,
  leaving: () => 'it was told to end',
  'not-expected': (r) => `launch ${r.launch} is not under way`,
  'unknown-worker': () => 'it was declared lost, or never joined',
  silent: (r) => `it sent no heartbeat for ${span(r.silentMs)}`,
  'kept-silent': (r) =>
    `it has sent no heartbeat for ${span(r.silentMs)}, but ${r.silent} of ${count(r.of, 'worker')} are silent at once, more than ${r.percent} %: the brain or its network may be at fault`,
  failing: (r) => `${r.failures} attempts in a row failed there, and their jobs were finished elsewhere`,
  erring: (r) => `its last ${r.errors} answers were errors, and most other workers give results`,
  slow: (r) => `its jobs take ${r.times} times as long as those of other workers`,
  'ejection-over': (r) => `its ejection of ${span(r.ms)} is over`,
  'too-many-ejected': (r) => `at most ${r.percent} % of the workers may be ejected`,
  lost: (r) => (r.message === '' ? 'its connection was lost' : `${r.message}`),
  drained: (r) =>
    Number(r.together ?? 1) > 1 ? `all ${r.together} draining workers are empty` : 'it has drained',
  operator: () => 'an operator asked for it',
  replaced: () => 'a restart replaces it',
}

const words: Words = {
  ...placement,
  ...progress,
  ...failures,
  ...ends,
  ...scaling,
  ...fleet,
  ...systemWords,
}

/** Why, as part of a sentence. */
export function explain(reason: Reason): string {
  return inWords(words, reason)
}

/** Another job, with its workload if known. */
export function other(job: Fact, workload: Fact): string {
  return workload === undefined ? `job ${job}` : `job ${job} (${workload})`
}

function workers({ have }: Reason): string {
  return count(have, 'worker')
}

function forecast({ cores, extra, waitingMs }: Reason): string {
  const backlog = Number(waitingMs) > 0 ? `, and a backlog of ${span(waitingMs)} needs ${extra} more` : ''
  return `arrivals will keep ${count(cores, 'core')} busy${backlog}`
}

function atOnce({ jobs, each }: Reason): string {
  return `about ${amount(jobs)} jobs run at once, and one worker is for ${amount(each)}`
}

function coreFor({ first }: Reason): string {
  return first ? 'it goes first now' : 'a core is free'
}

function withStart({ startMs }: Reason): string {
  return startMs === undefined ? '' : `, after ${span(startMs)} for the start of a slot,`
}

function insteadOfStart({ startMs }: Reason): string {
  return startMs === undefined ? '' : `, and to start a slot takes ${span(startMs)}`
}

/** For its deadline, or for its age. */
function whyFirst({ deadlineMs, hereMs }: Reason): string {
  if (deadlineMs !== undefined)
    return `its deadline is in ${span(deadlineMs)}, and it must run now to meet it`
  return `it arrived ${span(hereMs)} ago and gets a turn`
}

function times(given: Fact): string {
  return given === 1 ? 'once' : given === 2 ? 'twice' : `${given} times`
}

function said(message: Fact): string {
  return message === undefined || message === '' ? '' : ` (${message})`
}

/**
 * The direct path to workloads, for small requests whose body, if any, has been read: parameters are checked here, the job goes to a worker
 * over a link that many jobs share, and its answer comes back the same way. Whatever is unusual takes the general path.
 */

import type { Questioner } from '../../estimate/question.ts'
import type { Quantity } from '../../model/metering.ts'
import type { DirectOrder } from '../../wire/direct.ts'
import type { Address } from '../../wire/front-messages.ts'
import type { FrontLimits } from '../../wire/front-settings.ts'
import type { Workload } from '../../workload/workload.ts'
import { failureProblem } from '../problem.ts'
import {
  type CheckedParams,
  checkedParams,
  cpuMsSince,
  type GivenParams,
  shortBytes,
} from '../request/params.ts'
import { givenParams, mostParamsBytes, paramsFormat } from '../request/params-body.ts'
import type { RequestHead } from '../request/request-head.ts'
import { SlowChecks } from '../request/slow-checks.ts'
import { readUrl } from '../request/url.ts'
import { type DirectAnswer, directCost, wholeAnswer } from './direct-answer.ts'
import type { DirectRequests } from './direct-path.ts'
import type { DirectRequest } from './direct-request.ts'
import type { DirectReports } from './report.ts'
import { usual } from './request-text.ts'
import { WorkerLink } from './worker-link.ts'

/** Jobs that may be on their way to one worker. Beyond that the brain decides who is next. */
const mostPending = 256

const nothing = Buffer.alloc(0)

/** One of 16 checks of parameters is measured. */
const measuredEach = 16

export interface WorkloadRequestsParts {
  workloads: ReadonlyMap<string, Workload>
  question: Questioner
  quantities: readonly Quantity[]
  limits: Pick<FrontLimits, 'paramsBytes' | 'maxBytes'>
  reports: DirectReports
  /** How a worker is reached, with the token of attempts. Undefined: it is not known here. */
  reach(worker: string): { address: Address; token: string } | undefined
  log(line: string): void
}

/** A request whose parameters are accepted. */
interface Asked extends CheckedParams {
  workload: Workload
}

export class WorkloadRequests implements DirectRequests {
  readonly #parts: WorkloadRequestsParts
  readonly #links = new Map<string, WorkerLink>()
  readonly #slow: SlowChecks
  #checks = 0
  #names: ReadonlySet<string> = new Set()

  constructor(parts: WorkloadRequestsParts) {
    this.#parts = parts
    this.#slow = new SlowChecks(parts.log)
  }

  update({ names, workers }: DirectOrder): void {
    this.#names = new Set(names)
    const { reach, log } = this.#parts
    const before = new Map(this.#links)
    this.#links.clear()
    for (const { id } of workers) {
      const reached = reach(id)
      if (!reached) continue
      const link = before.get(id)
      // A worker that was started again under its id has another address.
      if (link?.leadsTo(reached)) {
        this.#links.set(id, link)
        before.delete(id)
      } else this.#links.set(id, new WorkerLink({ id, ...reached, log }))
    }
    for (const link of before.values()) link.leave()
  }

  take(request: RequestHead, enter: () => DirectRequest | undefined): boolean {
    if (!isSendable(request) || !usual(request)) return false
    const asked = this.#read(request)
    const link = asked && this.#leastBusy()
    const sent = link && enter()
    if (!sent) return false
    const call = { workload: asked.workload.name, params: asked.text, job: sent.job }
    const id = link.call(call, (answer) => this.#answered(asked, sent, link.id, answer))
    sent.cancel = () => link.cancel(id)
    return true
  }

  /** Longer parameters are checked in a thread. */
  get longestBody(): number {
    return shortBytes
  }

  sweep(): void {}

  /** Links look after their own connections. */
  get isOver(): boolean {
    return true
  }

  /** What a worker does not answer before it ends is given back. */
  get leaving(): readonly string[] {
    return []
  }

  close(): void {
    for (const link of this.#links.values()) link.leave()
    this.#links.clear()
  }

  /** Undefined: it takes the general path, which also says what is wrong with it. */
  #read(request: RequestHead): Asked | undefined {
    const { url, wholeBody: body } = request
    if (url!.length + (body?.length ?? 0) > shortBytes) return undefined
    try {
      const { path, query } = readUrl(request)
      const name = path.slice(1)
      const workload = this.#names.has(name) ? this.#parts.workloads.get(name) : undefined
      if (!workload || workload.lane || workload.deadlineMs !== undefined || this.#slow.has(name))
        return undefined
      const bytes = query.length + (body?.length ?? 0)
      if (bytes > mostParamsBytes(workload, this.#parts.limits)) return undefined
      const given = givenBy(request, query)
      const read = given && this.#check(workload, given)
      return read && workload.safeToRepeat(read.checked) ? { workload, ...read } : undefined
    } catch {
      return undefined
    }
  }

  /** Measures some of the checks: reading the clock of the CPU takes longer than most of them. */
  #check(workload: Workload, given: GivenParams): CheckedParams | undefined {
    if (this.#checks++ % measuredEach !== 0) return checkedParams(workload, given)
    const before = process.threadCpuUsage()
    const read = checkedParams(workload, given)
    this.#slow.note(workload.name, cpuMsSince(before))
    return read
  }

  #leastBusy(): WorkerLink | undefined {
    let best: WorkerLink | undefined
    let pending = mostPending
    for (const link of this.#links.values()) {
      if (link.pending >= pending) continue
      best = link
      pending = link.pending
    }
    return best
  }

  #answered(
    { workload, raw, checked }: Asked,
    direct: DirectRequest,
    worker: string,
    answer: DirectAnswer,
  ): void {
    // Its client has disconnected.
    if (direct.isOver) return
    const { reports, quantities, question } = this.#parts
    const { name } = workload
    // The operator finds the error of a failed job only if the brain knows the job.
    if (answer.outcome === 'given-back' || (answer.outcome === 'error' && answer.status >= 500)) {
      reports.givenBack(name, worker)
      return direct.giveBack()
    }
    this.#deliver(direct, worker, answer)
    const { work, cpuMs } = answer
    reports.answered(name, worker, work, cpuMs)
    if (answer.outcome !== 'result' || !reports.samples(name)) return
    const { key, features } = question(workload, checked, undefined)
    reports.row({
      ...{ job: direct.job, name, worker, key, features, params: raw },
      startedAt: Date.now() - (performance.now() - direct.startedAt),
      cost: directCost(answer, quantities),
    })
  }

  #deliver(
    direct: DirectRequest,
    worker: string,
    answer: Exclude<DirectAnswer, { outcome: 'given-back' }>,
  ): void {
    const account = direct.account(worker, answer.work)
    direct.answer((client) => {
      if (answer.outcome === 'result') client.deliver(wholeAnswer(answer, this.#parts.quantities), account)
      else client.refuse(failureProblem('workload-error', answer, direct.job, false), account)
    })
  }
}

/** False: only the general path knows what to do, or reads the body. */
function isSendable({ method, wholeBody }: RequestHead): boolean {
  return method === 'GET' || method === 'HEAD' || (method === 'POST' && wholeBody !== undefined)
}

/** Undefined: the body is data. Throws a 400. */
function givenBy(request: RequestHead, query: string): GivenParams | undefined {
  const format = paramsFormat(request)
  const body = request.wholeBody ?? nothing
  if (format) return givenParams(format, query, body)
  return body.length === 0 ? { query } : undefined
}

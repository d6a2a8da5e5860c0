/** What a cluster serves: workloads, or an existing server. */

import type { OwnCluster } from '../config/check.ts'
import { routeCode, serverCode } from '../config/code.ts'
import { serverSettings, usualMeasure } from '../config/server-settings.ts'
import { questioner } from '../estimate/question.ts'
import { RouteUnits } from '../estimate/route-units.ts'
import type { DirectRequests } from '../front/direct/direct-path.ts'
import { ProgramRequests } from '../front/direct/program-requests.ts'
import { WorkloadRequests, type WorkloadRequestsParts } from '../front/direct/workload-requests.ts'
import { headBytes } from '../front/request/body.ts'
import type { StartParamsThread } from '../front/request/params-reader.ts'
import { routeQuestioner } from '../front/request/route-question.ts'
import { RouteTable } from '../front/request/route-table.ts'
import { routeService } from '../front/request/routes.ts'
import type { Service } from '../front/request/target.ts'
import { trustedProxies } from '../front/request/trusted-proxies.ts'
import { workloadService } from '../front/request/workloads.ts'
import { ConfigError } from '../lib/errors.ts'
import { defaultMeter } from '../meter/hooks.ts'
import { checkMeter, type MeterSetting, type Quantity } from '../model/metering.ts'
import type { FrontLimits } from '../wire/front-settings.ts'
import { readCode } from '../worker/workload-code.ts'
import { loadWorkloads } from '../workload/load.ts'
import type { Workload } from '../workload/workload.ts'

export interface Serving {
  /** Modules of the workloads. */
  files: readonly string[]
  /** Empty for an existing server. */
  workloads: ReadonlyMap<string, Workload>
  /** Hashes of code that workers and fronts must have too. */
  joining: Readonly<Record<string, string>>
  /** Hashes of code, by workload or route. */
  code: Readonly<Record<string, string>>
  meter: MeterSetting
  /** Of an existing server. */
  own?: OwnCluster | undefined
  units?: RouteUnits
}

/** What a running cluster serves; a new version replaces it as a whole. */
export interface CurrentServing extends Serving {
  change(next: Serving): void
}

export function currentServing(first: Serving): CurrentServing {
  const { meter, units } = first
  let now = first
  return {
    // The meter and the rates of routes stay for the life of the cluster.
    ...{ meter, ...(units && { units }) },
    get files() {
      return now.files
    },
    get own() {
      return now.own
    },
    get workloads() {
      return now.workloads
    },
    get joining() {
      return now.joining
    },
    get code() {
      return now.code
    },
    change(next) {
      now = next
      if (next.own) units?.renew({ code: next.code, usual: usualMeasure(next.own) })
    },
  }
}

export interface ServingOptions {
  /** Modules of workloads. */
  files: string[]
  own?: OwnCluster
  meter?: MeterSetting
}

export async function servingOf({ files, own, meter = defaultMeter }: ServingOptions): Promise<Serving> {
  if (own) {
    const joining = serverCode(serverSettings(own, own.upstreams?.[0]))
    const code = routeCode(own, joining.server)
    const units = new RouteUnits({ code, usual: usualMeasure(own) })
    return { files, own, workloads: new Map(), joining, code, meter: 'off', units }
  }
  checkMeter(meter)
  const workloads = new Map((await loadWorkloads(files)).map((workload) => [workload.name, workload]))
  for (const name of Object.keys((meter !== 'off' && meter.only) || {})) {
    if (workloads.has(name)) continue
    const served = [...workloads.keys()].join(', ')
    throw new ConfigError(`meterOnly names the workload ${name}, which is not served; served are ${served}`)
  }
  const { hashes: code } = await readCode(files, meter)
  return { files, workloads, joining: code, code, meter }
}

export interface ServiceParts {
  limits: FrontLimits
  /** Quantities that answers report in headers. */
  quantities: readonly Quantity[]
  log(line: string): void
  /** Default: a thread of this process. */
  startThread?: StartParamsThread | undefined
}

/** What a front serves: the routes of an existing server, or workloads. */
export function serviceOf(
  { own, files, workloads, code, units }: Serving,
  { limits, quantities, log, startThread }: ServiceParts,
): Service {
  if (!own || !units) {
    const question = questioner({ code, log })
    return workloadService({ workloads, files, code, question, limits, quantities, log, startThread })
  }
  return routeService({
    table: new RouteTable(own.routes),
    question: routeQuestioner({ codeOf: (route) => units.codeOf(route), log }),
    body: { maxBytes: own.maxBodyBytes, memoryBytes: limits.memoryBytes, stallMs: limits.requestMs },
    inMicroseconds: (route, work) => units.inMicroseconds(route, work),
    preemptible: own.concurrency === 1 && own.workers !== undefined,
    holdMs: limits.holdMs,
    isTrusted: trustedProxies(limits.trustedProxies),
  })
}

/** What a front can send directly. */
export function directRequestsOf(
  { own, units, workloads, code }: Serving,
  {
    limits,
    ...parts
  }: Omit<WorkloadRequestsParts, 'workloads' | 'question' | 'limits'> & Pick<ServiceParts, 'limits'>,
): DirectRequests {
  const { reports, log } = parts
  if (!own || !units)
    return new WorkloadRequests({ workloads, question: questioner({ code, log }), limits, ...parts })
  const question = routeQuestioner({ codeOf: (route) => units.codeOf(route), log })
  const isTrusted = trustedProxies(limits.trustedProxies)
  return new ProgramRequests({
    ...{ table: new RouteTable(own.routes), question, reports, isTrusted, log },
    longestBody: Math.min(headBytes, own.maxBodyBytes),
    holdMs: limits.holdMs,
  })
}

/** The same for a front that stays while versions change: from the next order on, the new version is served. */
export function changingRequests(
  serving: Serving,
  parts: Parameters<typeof directRequestsOf>[1],
): DirectRequests {
  let current = directRequestsOf(serving, parts)
  let { workloads, own } = serving
  /** Of versions before, with requests in progress. */
  const before = new Set<DirectRequests>()
  return {
    update(order) {
      if (serving.workloads !== workloads || serving.own !== own) {
        current.close()
        before.add(current)
        current = directRequestsOf(serving, parts)
        ;({ workloads, own } = serving)
      }
      current.update(order)
    },
    take: (request, enter) => current.take(request, enter),
    get longestBody() {
      return current.longestBody
    },
    sweep() {
      current.sweep()
      for (const old of before) {
        old.sweep()
        if (old.isOver) before.delete(old)
      }
    },
    get isOver() {
      return current.isOver && before.size === 0
    },
    get leaving() {
      return [current, ...before].flatMap(({ leaving }) => leaving)
    },
    close: () => current.close(),
  }
}

/** The service of a cluster whose versions change. The kind of service does not. */
export function changingService(serving: CurrentServing, parts: ServiceParts): Service {
  let service = serviceOf(serving, parts)
  let { workloads, own } = serving
  const current = () => {
    if (serving.workloads !== workloads || serving.own !== own) {
      service = serviceOf(serving, parts)
      ;({ workloads, own } = serving)
    }
    return service
  }
  const { requestMs, upgrades } = service
  return {
    ...{ requestMs, upgrades },
    list: () => current().list(),
    find: (asked) => current().find(asked),
    quotedMethod: (request) => current().quotedMethod(request),
  }
}

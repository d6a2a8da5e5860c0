/**
 * Turns an access log into rows of the ledger. A log has times, not work, and they include waiting. So its rows count as
 * those of older code: estimates start from them and move away with the first measurements.
 */

import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { measuredCode } from '../../estimate/measured-code.ts'
import type { Client } from '../../front/client.ts'
import { frontDefaults } from '../../front/front.ts'
import { RequestProblem } from '../../front/problem.ts'
import { Body } from '../../front/request/body.ts'
import { BodyBudget } from '../../front/request/body-budget.ts'
import type { TargetRequest } from '../../front/request/target.ts'
import { readUrl } from '../../front/request/url.ts'
import type { LedgerRow } from '../../ledger/ledger.ts'
import { type Serving, serviceOf } from '../serving.ts'
import { type LoggedRequest, readLine, type TimeUnit } from './access-log.ts'

/** Lines of a log, by what became of them. */
export interface LogCounts {
  lines: number
  learned: number
  /** Requests that failed, or that the cluster would not accept. */
  failed: number
  /** Requests to paths that the cluster does not serve. */
  elsewhere: number
  /** Requests that the cluster would reject, for example because their body is not in the log. */
  rejected: number
  unreadable: number
  /** The number of the first unreadable line, and what is wrong with it. */
  firstBad?: { line: number; why: string }
}

export interface LogParts {
  file: string
  unit: TimeUnit
  serving: Serving
  /** Nominal work per millisecond. */
  nominal: number
  now: number
  log(line: string): void
}

/** Requests of a log have no bodies. */
const noBodies = new BodyBudget({ memoryBytes: 0, diskBytes: 0 })
/** The code that rows of a log claim to be of. */
const logCode = 'access-log'

export async function* rowsOfLog(parts: LogParts, counts: LogCounts): AsyncGenerator<LedgerRow> {
  const service = serviceOf(parts.serving, { limits: frontDefaults, quantities: [], log: parts.log })
  const repeats = new Map<string, number>()
  for await (const line of createInterface({ input: createReadStream(parts.file), crlfDelay: Infinity })) {
    counts.lines++
    if (line.trim() === '') continue
    const logged = readLine(line, parts.unit)
    if (typeof logged === 'string') {
      counts.unreadable++
      counts.firstBad ??= { line: counts.lines, why: logged }
      continue
    }
    if (logged.status < 200 || logged.status > 299 || !(logged.tookMs > 0)) {
      counts.failed++
      continue
    }
    const target = await targetOf(service, logged)
    if (typeof target === 'string') {
      counts[target]++
      continue
    }
    const repeat = repeats.get(line) ?? 0
    repeats.set(line, repeat + 1)
    counts.learned++
    yield rowOf(parts, target, logged, `log-${sha(line)}-${repeat}`)
  }
}

type Service = ReturnType<typeof serviceOf>

async function targetOf(
  service: Service,
  { method, target }: LoggedRequest,
): Promise<TargetRequest | 'elsewhere' | 'rejected'> {
  const request = new IncomingMessage(new Socket())
  request.method = method
  request.url = target
  try {
    // Nothing is answered, so that there is no client.
    const asked = { request, method, url: readUrl(request), client: undefined as unknown as Client }
    const found = service.find(asked)
    return await found.read(new Body(request, found.body, noBodies), '')
  } catch (error) {
    if (!(error instanceof RequestProblem)) throw error
    return error.status === 404 ? 'elsewhere' : 'rejected'
  }
}

function rowOf(
  { serving: { units }, nominal, now }: LogParts,
  target: TargetRequest,
  { endedAt, tookMs }: LoggedRequest,
  job: string,
): LedgerRow {
  const question = target.question()
  const measure = units ? units.measureOf(target.name) : 'meter'
  return {
    job,
    workload: target.name,
    codeHash: measuredCode(logCode, measure),
    key: question.key,
    parameters: JSON.stringify(target.params),
    features: JSON.stringify(question.features),
    // Routes of an existing server count in microseconds.
    work: tookMs * (units ? 1000 : nominal),
    measure,
    quantities: '',
    cpuMs: tookMs,
    wallMs: tookMs,
    peakMemoryMb: 0,
    worker: logCode,
    attempts: 1,
    startedAt: Math.min(now, endedAt) - tookMs,
    endedAt: Math.min(now, endedAt),
    outcome: 'result',
  }
}

function sha(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 22)
}

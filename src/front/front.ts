/** The front: HTTP in, a job for the brain, HTTP out. */

import type { IncomingMessage, ServerOptions, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { refusalLog } from '../lib/refusal-log.ts'
import { RecoveryTime } from '../lib/retry-times.ts'
import type { FrontLimits } from '../wire/front-settings.ts'
import { largestParams } from '../workload/largest-params.ts'
import { AnswerStore } from './answer-buffer.ts'
import { type BuiltInParts, isBuiltIn, isJobsPath, serveBuiltIn } from './built-in.ts'
import { Client } from './client.ts'
import { addStep, FrontServer } from './connection-steps.ts'
import { watchConnections } from './connections.ts'
import { type CrossOrigin, crossOrigin, preflight } from './cross-origin.ts'
import { directFirst } from './direct/direct-first.ts'
import type { DirectPath } from './direct/direct-path.ts'
import { ResponseExchange } from './direct/response-exchange.ts'
import { askKeeper, type KeepParts, keepRequest } from './durable/keep-request.ts'
import { guessedAwayMs, type KeeperLink } from './durable/keeper-link.ts'
import { keptClientOf, keptServer } from './durable/kept-server.ts'
import { type Wish, wishByQuote, wishOf } from './durable/wish.ts'
import { keepAliveMs } from './fast-path/answer-text.ts'
import { FastPath } from './fast-path/fast-path.ts'
import { Http2Sessions } from './http2/sessions.ts'
import { StreamRequest } from './http2/stream-request.ts'
import type { FrontOverload } from './overload/front-overload.ts'
import { RequestProblem } from './problem.ts'
import { proxyStep } from './proxy-protocol/proxy-connections.ts'
import { BodyBudget } from './request/body-budget.ts'
import { firstCheck } from './request/first-check.ts'
import { maxCostOf, maxCpuMsOf } from './request/max-cost.ts'
import { type EstimatedRequest, readRequest } from './request/request.ts'
import { type SubmitParts, submitRequest } from './request/submit.ts'
import type { Incoming } from './request/target.ts'
import { trustedProxies } from './request/trusted-proxies.ts'
import { readUrl } from './request/url.ts'
import type { ClientResponse } from './response.ts'
import type { Certificates } from './tls/certificates.ts'
import { secureStep } from './tls/secure-connections.ts'
import { answerOn, wantsToSwitch } from './transports/upgrade.ts'

export const frontDefaults: Readonly<FrontLimits> = {
  maxBytes: largestParams,
  memoryBytes: 1024 * 1024,
  paramsBytes: 64 * 1024,
  bodiesMemoryBytes: 128 * 1024 * 1024,
  bodiesDiskBytes: 4 * 1024 * 1024 * 1024,
  trustedProxies: [],
  proxyProtocol: false,
  corsOrigins: [],
  headerBytes: 16 * 1024,
  requestMs: 60_000,
  stallMs: 120_000,
  minRate: 240,
  answerMemoryBytes: 64 * 1024 * 1024,
  answerDiskBytes: 1024 * 1024 * 1024,
  holdMs: 50,
  exposeErrors: false,
  clientConnections: 20_000,
  clientRequests: 20_000,
  processMb: 0,
  asyncAboveMs: 0,
  fastPath: true,
}

/** Buffered per direction and connection before the sender has to wait. */
const bufferBytes = 256 * 1024

export interface FrontParts extends Omit<BuiltInParts, 'bodies'>, SubmitParts {
  limits: FrontLimits
  /** Undefined: nothing is held or refused because of overload, and clients have no limits. */
  overload?: FrontOverload
  /** Undefined: all requests take the general path. */
  direct?: DirectPath | undefined
  keeper: KeeperLink
  /** Undefined: plain HTTP. */
  certificates?: Certificates | undefined
  log(line: string): void
}

type ServeParts = FrontParts &
  BuiltInParts &
  Pick<KeepParts, 'away'> & { crossOrigin: CrossOrigin | undefined; isKept?: boolean }

export function frontServer(given: FrontParts): FrontServer {
  const { limits, service, log } = given
  const space = { memoryBytes: limits.bodiesMemoryBytes, diskBytes: limits.bodiesDiskBytes, log }
  const parts: ServeParts = {
    ...given,
    bodies: new BodyBudget(space),
    crossOrigin: crossOrigin(limits.corsOrigins),
    away: new RecoveryTime(guessedAwayMs),
  }
  const options: ServerOptions = {
    maxHeaderSize: limits.headerBytes,
    requestTimeout: service.requestMs,
    headersTimeout: Math.min(limits.requestMs, 20_000),
    // The default of 30 s would let slow clients exceed their limit by as much.
    connectionsCheckingInterval: 1_000,
    keepAliveTimeout: keepAliveMs,
    highWaterMark: bufferBytes,
    // Otherwise any listener of upgrades, such as one that counts, takes requests that offer another protocol.
    shouldUpgradeCallback: service.upgrades ? wantsToSwitch : () => false,
  }
  const answers = new AnswerStore(limits)
  const serveOn = (request: IncomingMessage, response: ClientResponse, extra: Extra = {}) => {
    const client = new Client(response, limits, answers, extra.socket)
    void serve(parts, { request, client, sendContinue: extra.sendContinue })
  }
  const admits = admission(limits, answers)
  const { direct } = given
  const fieldsOf = parts.crossOrigin
  const serverParts = { limits, answers, general: serveOn, fieldsOf }
  const exchangeOf = (request: IncomingMessage, response: ServerResponse) =>
    new ResponseExchange(request, response, serverParts)
  const answer = direct ? directFirst({ direct, exchangeOf, general: serveOn }) : serveOn
  const server = new FrontServer(options, (request, response) => {
    watch.add(response)
    const isNew = !server.fastPath?.claims(request, response)
    if (isNew && admits(request, response)) answer(request, response)
  })
  const refused = refusalLog('front', log)
  const watch = watchConnections(server, refused)
  if (direct && limits.fastPath) {
    const fastPath = new FastPath({ direct, limits, exchangeOf, fieldsOf, isIdle: watch.isIdle })
    server.on('connection', (socket: Socket) => fastPath.add(socket))
    server.once('close', () => fastPath.close())
    server.fastPath = fastPath
  }
  server.on('checkContinue', (request, response) => {
    watch.add(response)
    if (admits(request, response))
      serveOn(request, response, { sendContinue: () => response.writeContinue() })
  })
  if (service.upgrades) {
    server.on('upgrade', (request, socket: Socket, head) => {
      const response = request instanceof StreamRequest ? request.response : answerOn(request, socket, head)
      if (response && admits(request, response, { socket })) serveOn(request, response, { socket })
    })
  }
  addSteps(server, parts, refused)
  server.forKeeper = (token) => {
    const { overload: _, ...rest } = parts
    const kept: ServeParts = { ...rest, clientOf: keptClientOf, isKept: true }
    return keptServer({
      token,
      limits,
      answers,
      serve: (request, client) => void serve(kept, { request, client }),
    })
  }
  return server
}

/** Returns false if the request is refused, or follows an ambiguous one. */
function admission(limits: FrontLimits, answers: AnswerStore) {
  const check = firstCheck()
  return (request: IncomingMessage, response: ClientResponse, { socket }: Extra = {}): boolean => {
    const found = check(request)
    if (typeof found === 'object') new Client(response, limits, answers, socket).refuse(found)
    return found === 'clear'
  }
}

/** What happens to a connection before its requests are parsed; the last one added is the first. */
function addSteps(server: FrontServer, parts: FrontParts, refused: ReturnType<typeof refusalLog>): void {
  const { limits, service, overload, certificates } = parts
  if (certificates) {
    const { requestMs, upgrades } = service
    const { headerBytes } = limits
    server.once('close', () => certificates.close())
    server.sessions = new Http2Sessions({ server, headerBytes, requestMs, upgrades, refused })
    addStep(server, secureStep(server, { certificates, sessions: server.sessions, refused }))
  }
  overload?.guard(server, certificates === undefined)
  if (limits.proxyProtocol)
    addStep(server, proxyStep(server, { isTrusted: trustedProxies(limits.trustedProxies), refused }))
}

interface Extra extends Pick<Incoming, 'sendContinue'> {
  /** The client asks to switch protocols on it. */
  socket?: Socket
}

/** Undefined: the request is answered as usual. */
async function wishForLong(
  { limits, describeQuote }: ServeParts,
  { question, quote }: EstimatedRequest,
): Promise<Wish | undefined> {
  if (limits.asyncAboveMs === 0) return undefined
  return wishByQuote(await describeQuote(question, quote), limits.asyncAboveMs)
}

async function serve(parts: ServeParts, incoming: Incoming): Promise<void> {
  const { request, client } = incoming
  try {
    const fields = parts.crossOrigin?.(request)
    if (fields) {
      client.addFields(fields)
      const told = preflight(request)
      if (told) return client.deliver({ status: 204, fields: { ...told }, body: Buffer.alloc(0) }, {})
    }
    const url = readUrl(request)
    if (isJobsPath(url)) return await askKeeper(parts, { ...incoming, url })
    if (isBuiltIn(url)) return await serveBuiltIn(parts, url, incoming)
    if (parts.overload) {
      const leave = parts.overload.enter(parts.clientOf(request))
      client.onGone(leave)
      // A response that switched protocols is never closed itself.
      client.socket?.once('close', leave)
    }
    if (parts.overload?.closesConnections) client.closeAfterwards()
    // A connection that switches protocols is not a request that can be kept.
    const mayKeep = !parts.isKept && !client.socket
    const wish = mayKeep ? wishOf(request) : undefined
    const maxCost = maxCostOf(request)
    const estimated = await readRequest(parts, { ...incoming, url, method: request.method ?? 'GET' })
    const maxCpuMs = maxCost && (await maxCpuMsOf(parts, estimated, maxCost))
    const kept = mayKeep ? (wish ?? (await wishForLong(parts, estimated))) : undefined
    if (kept) await keepRequest(parts, estimated, { ...incoming, url }, kept)
    else await submitRequest(parts, estimated, incoming, maxCpuMs)
  } catch (error) {
    if (error instanceof RequestProblem) return client.refuse(error)
    // The client disconnected in the middle of its request.
    if (request.destroyed) return
    parts.log(`front: ${(error as Error).stack}`)
    client.refuse(new RequestProblem(500, 'internal', 'An internal error occurred and has been logged.'))
  }
}

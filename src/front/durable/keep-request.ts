/** Passes a request on to the keeper, which stores it before it is accepted, and relays what the keeper answers. */

import { createHash, type Hash } from 'node:crypto'
import type { ClientRequest, IncomingMessage } from 'node:http'
import type { RecoveryTime } from '../../lib/retry-times.ts'
import {
  type Field,
  type KeepOrder,
  keepPath,
  keptAddressField,
  keptClientField,
  keptEndField,
  keptJobField,
  keptOperatorField,
  keptProtocolField,
  linksOf,
  operatorField,
  pathOf,
} from '../../wire/kept.ts'
import { endToEnd, pairsOf } from '../../wire/raw-headers.ts'
import type { Client } from '../client.ts'
import { drained } from '../drained.ts'
import { RequestProblem } from '../problem.ts'
import type { Body } from '../request/body.ts'
import type { EstimatedRequest } from '../request/request.ts'
import type { Incoming } from '../request/target.ts'
import type { RequestUrl } from '../request/url.ts'
import { protocolOf } from '../transports/proxy-headers.ts'
import { callKeeper, endingUnstored, type KeeperLink, keeperAway } from './keeper-link.ts'
import type { Wait } from './waiting-clients.ts'
import type { Wish } from './wish.ts'

/** Not part of the request that is kept. */
const dropped: ReadonlySet<string> = new Set([
  ...['prefer', 'expect', 'content-length', 'plimsoll-announce', 'plimsoll-webhook', operatorField],
])

export interface KeepParts {
  keeper: KeeperLink
  /** The keeper does not answer, although its address is known. */
  away: RecoveryTime
  clientOf(request: IncomingMessage): string
  describeQuote(question: EstimatedRequest['question'], quote: EstimatedRequest['quote']): unknown
}

/** Rejects with a problem if the request cannot be kept. */
export async function keepRequest(
  parts: KeepParts,
  { target, body, question, quote }: EstimatedRequest,
  { request, client, url }: Incoming & { url: RequestUrl },
  wish: Wish,
): Promise<void> {
  const wait = parts.keeper.waiting.add(() => client.refuse(endingUnstored()))
  try {
    client.onGone(() => {
      wait.over()
      body.discard()
    })
    // A request whose body breaks off was never complete, and is not accepted.
    await body.has(Infinity)
    const { applied, waitMs, webhook, idempotencyKey: key } = wish
    const order: KeepOrder = {
      workload: target.name,
      client: parts.clientOf(request),
      isRepeatable: target.jobFacts(quote).safeToRepeat,
      method: request.method ?? 'GET',
      target: url.text,
      fields: keptFields(request),
      quote: await quoteOf(parts, { question, quote }),
      ...{ waitMs, ...(applied !== undefined && { applied }) },
      ...(webhook !== undefined && { webhook }),
      ...(key !== undefined && { idempotency: { key, fingerprint: await fingerprint(request, url, body) } }),
    }
    const line = Buffer.from(`${JSON.stringify(order)}\n`)
    const sending = callKeeper(await parts.keeper.reach(), {
      ...{ method: 'POST', path: keepPath },
      headers: {
        'content-type': 'application/octet-stream',
        'content-length': `${line.length + body.bytes}`,
      },
    })
    const send = async () => {
      sending.write(line)
      for await (const chunk of body.open()) {
        if (sending.destroyed) return
        if (!sending.write(chunk)) await drained(sending)
      }
    }
    await relay({ sending, client, away: parts.away, wait }, { send, answerStored: storedAnswer(order) })
  } finally {
    wait.over()
    body.discard()
  }
}

/** What a client that waits is told of its job if the keeper or this front ends first. */
function storedAnswer({
  workload,
  method,
  target,
  applied,
}: KeepOrder): (client: Client, id: string, endsAt: number) => void {
  return (client, id, endsAt) => {
    const document = { id, state: 'accepted', workload, method, target, links: linksOf(id) }
    const body = Buffer.from(`${JSON.stringify(document)}\n`)
    const fields = {
      'content-type': 'application/json',
      'content-length': `${body.length}`,
      'cache-control': 'no-store',
      location: pathOf(id),
      'retry-after': `${storedRetryS(endsAt - Date.now())}`,
      ...(applied !== undefined && { 'preference-applied': applied }),
    }
    client.closeAfterwards()
    client.deliver({ status: 202, fields, body }, {})
  }
}

/** By then another front or keeper runs. */
const restartedS = 5

/** When the job is expected to have ended, but not before it can be asked for. */
function storedRetryS(leftMs: number): number {
  return Math.min(3600, Math.max(restartedS, Math.ceil(leftMs / 1000)))
}

/** Null while the brain is away: a request can be accepted without its quote. */
async function quoteOf(
  { describeQuote }: KeepParts,
  { question, quote }: Pick<EstimatedRequest, 'question' | 'quote'>,
): Promise<unknown> {
  try {
    return await describeQuote(question, quote)
  } catch (error) {
    if (error instanceof RequestProblem && error.code === 'no-brain') return null
    throw error
  }
}

/** Passes a request about kept jobs on to the keeper. */
export async function askKeeper(
  parts: Pick<KeepParts, 'keeper' | 'away' | 'clientOf'>,
  { request, client, url }: Incoming & { url: RequestUrl },
): Promise<void> {
  const address = await parts.keeper.reach()
  const { accept, 'last-event-id': last, [operatorField]: operator } = request.headers
  const sending = callKeeper(address, {
    ...{ method: request.method ?? 'GET', path: url.text },
    headers: {
      [keptClientField]: parts.clientOf(request),
      ...(operator !== undefined && { [keptOperatorField]: String(operator) }),
      ...(accept !== undefined && { accept }),
      ...(last !== undefined && { 'last-event-id': String(last) }),
    },
  })
  const wait = parts.keeper.waiting.add(() => {})
  client.onGone(() => wait.over())
  try {
    await relay({ sending, client, away: parts.away, wait })
  } finally {
    wait.over()
  }
}

interface Relay {
  sending: ClientRequest
  client: Client
  away: RecoveryTime
  wait: Wait
}

interface Keeping {
  send(): Promise<void>
  /** The job is stored, and its answer cannot be waited for. */
  answerStored(client: Client, id: string, endsAt: number): void
}

/** Resolves when the client has the keeper's answer, or has left. */
async function relay({ sending, client, away, wait }: Relay, keeping?: Keeping): Promise<void> {
  client.onGone(() => sending.destroy())
  const answered = Promise.withResolvers<IncomingMessage>()
  // Also after the answer, when nobody listens to it any more.
  sending.on('error', answered.reject)
  sending.once('response', answered.resolve)
  let id: string | undefined
  let endsAt = 0
  sending.on('information', ({ headers: { [keptJobField]: stored, [keptEndField]: end = '0' } }) => {
    if (typeof stored !== 'string') return
    id = stored
    endsAt = Number(end)
    wait.stored(() => sending.destroy(new Error('the front ends')))
  })
  // The keeper may answer before it has read everything.
  void Promise.resolve(keeping?.send()).then(
    () => sending.end(),
    (error) => sending.destroy(error),
  )
  let answer: IncomingMessage
  try {
    answer = await answered.promise
  } catch {
    if (client.gone) return
    if (id !== undefined) return keeping?.answerStored(client, id, endsAt)
    away.begins()
    throw keeperAway(away.retryAfterMs())
  }
  away.ends()
  await passOn(answer, client, wait)
}

async function passOn(answer: IncomingMessage, client: Client, wait: Wait): Promise<void> {
  const fields: Record<string, string | string[]> = {}
  for (const [name, value] of pairsOf(endToEnd(answer.rawHeaders))) {
    const before = fields[name]
    fields[name] = before === undefined ? value : [before, value].flat()
  }
  let isEnding = false
  // Events would go on for as long as the job. Its follower connects again.
  if (answer.headers['content-type'] === 'text/event-stream')
    wait.stored(() => {
      isEnding = true
      answer.destroy()
    })
  else wait.over()
  const sink = client.begin({ status: answer.statusCode ?? 502, fields }, {})
  try {
    for await (const chunk of answer) await sink.write(chunk)
    sink.end()
  } catch {
    if (isEnding) sink.end()
    else client.breakOff()
  }
}

/** Without what the client says about its own connection, and with what later requests cannot tell. */
function keptFields(request: IncomingMessage): Field[] {
  const sent = pairsOf(endToEnd(request.rawHeaders, { others: dropped }))
  return [
    ...sent.filter(([name]) => !name.toLowerCase().startsWith('plimsoll-kept-')),
    [keptAddressField, request.socket.remoteAddress ?? ''],
    [keptProtocolField, protocolOf(request)],
  ]
}

/** Two requests with the same fingerprint ask for the same. */
async function fingerprint(
  { method, headers }: IncomingMessage,
  url: RequestUrl,
  body: Body,
): Promise<string> {
  const all = createHash('sha256')
  const facts = [method, url.text, headers['content-type'] ?? '', headers['content-encoding'] ?? '']
  all.update(`${JSON.stringify(facts)}\n`)
  for await (const chunk of body.open()) all.update(chunk)
  return (all as Hash).digest('base64url')
}

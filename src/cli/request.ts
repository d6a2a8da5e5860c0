import { ConfigError, UnreachableError } from '../lib/errors.ts'
import { maxCostRule, readMaxCost } from '../model/max-cost.ts'
import { whyText } from '../story/document.ts'
import { type Command, readOptions } from './options.ts'
import { type Account, accountLine, accountOf } from './terminal/account.ts'
import { adminFrom, adminOptions } from './terminal/admin.ts'
import { type AskedQuestion, askingOptions, problemText, questionFor, readAsked } from './terminal/asking.ts'
import { type Answer, type Client, client } from './terminal/client.ts'
import { clusterUrlFrom } from './terminal/cluster-url.ts'
import { following, followingText } from './terminal/following.ts'
import { interruptible } from './terminal/interrupt.ts'
import { keptAnswer } from './terminal/kept-answer.ts'
import { type OutFile, openOut } from './terminal/out-file.ts'
import { waitingLine } from './terminal/progress.ts'
import { terminalWidth } from './terminal/width.ts'
import { whyAfterwards } from './why.ts'

const options = {
  ...askingOptions,
  out: { type: 'text', help: 'write the answer to this file', value: 'FILE' },
  deadline: {
    type: 'number',
    help: "deadline in milliseconds; 0: the workload's",
    default: 0,
    min: 0,
    value: 'MS',
  },
  maxCost: {
    type: 'text',
    help: 'maximum cost: CPU time such as 90s or 500ms, or price=0.02. A request that is sure to cost more is refused, and one that does is ended',
    value: 'COST',
  },
  key: {
    type: 'text',
    help: 'client key, sent as a bearer token; for clusters with --client-by key',
    value: 'KEY',
  },
  async: {
    type: 'flag',
    help: 'do not wait: print the id of the accepted job, or with --json the job; plimsoll jobs follows it and prints its result',
  },
  why: { type: 'flag', help: 'print the story of the job on stderr afterwards' },
  admin: adminOptions.admin,
  tokenFile: adminOptions.tokenFile,
  json: { type: 'flag', help: 'print one JSON object with the answer and its cost' },
} as const

/** A client. */
export const request: Command = {
  summary: 'Send one request to a cluster and wait for its answer.',
  usage: 'WORKLOAD [name=value…] [options]      for example: request factorize n=999985999949',
  options,
  async run(args) {
    const { values, rest } = readOptions(args, options)
    checkAsync(values)
    const asked = readAsked('request', rest)
    const url = await clusterUrlFrom(values)
    const admin = await adminFrom(values)
    const headers = headersFrom(values)
    const out = values.out === undefined ? undefined : await openOut(values.out)
    const connection = client(url)
    let stopWaiting = () => {}
    try {
      const question = await questionFor('request', connection, asked, values.body)
      Object.assign(question.headers, headers)
      if (values.async) return await handIn(connection, question, values.json)
      const followed = process.stderr.isTTY ? following(connection, admin, question) : undefined
      const eraseLine = waitingLine((ms) => followingText(asked.workload, ms, followed?.known ?? {}))
      stopWaiting = () => {
        followed?.stop()
        eraseLine()
      }
      return await interruptible(async (signal) => {
        const first = await connection.send({
          ...{ ...question, signal },
          ...(followed && { onJob: followed.follow }),
        })
        const answer = await keptAnswer(connection, first, {
          ...{ headers: authorizationOf(headers), signal },
          isKept(id) {
            stopWaiting()
            console.error(
              `plimsoll: the cluster keeps this request as job ${id}; it goes on without this command`,
            )
          },
        })
        const received = await receive(answer, out).catch((error) => {
          throw new UnreachableError(`the answer was cut off (${error.code ?? error.message})`, {
            cause: error,
          })
        })
        stopWaiting()
        const story = values.why ? await whyAfterwards(admin, received.account.job) : undefined
        if (values.json) {
          console.log(JSON.stringify({ ...jsonOf(received), ...(values.why && { why: story ?? null }) }))
          return received.failed ? 1 : 0
        }
        const code = show(received)
        if (story) console.error(`\n${whyText(story, terminalWidth(process.stderr))}`)
        return code
      })
    } finally {
      stopWaiting()
      await connection.close()
      await out?.close()
    }
  },
}

/** Prints the id of the job that the cluster has accepted. */
async function handIn(connection: Client, question: AskedQuestion, json: boolean): Promise<number> {
  const headers = { ...question.headers, prefer: 'respond-async' }
  const { status, body } = await connection.send({ ...question, headers })
  const text = await body.text()
  if (status !== 202) {
    console.error(problemText(status, text))
    return 1
  }
  console.log(json ? text.trimEnd() : (JSON.parse(text) as { id: string }).id)
  return 0
}

function authorizationOf({ authorization }: Record<string, string>): Record<string, string> {
  return authorization === undefined ? {} : { authorization }
}

/** Throws if an option needs the answer, which `--async` does not wait for. */
function checkAsync({
  async: isAsync,
  why,
  out,
}: {
  async: boolean
  why: boolean
  out: string | undefined
}): void {
  if (!isAsync) return
  if (why)
    throw new ConfigError(
      '--why: cannot be combined with --async; later: plimsoll why with the id of the job',
    )
  if (out !== undefined)
    throw new ConfigError('--out: cannot be combined with --async; later: plimsoll jobs result ID --out FILE')
}

function headersFrom({
  deadline,
  maxCost,
  key,
}: {
  deadline: number
  maxCost: string | undefined
  key: string | undefined
}): Record<string, string> {
  return {
    ...(deadline > 0 && { 'plimsoll-deadline': `${deadline}` }),
    ...(maxCost !== undefined && { 'plimsoll-max-cost': checkMaxCost(maxCost) }),
    ...(key !== undefined && { authorization: `Bearer ${readKey(key)}` }),
  }
}

function checkMaxCost(text: string): string {
  const read = readMaxCost(text)
  if (!read) throw new ConfigError(`--max-cost = ${text}: ${maxCostRule}`)
  return read.text
}

function readKey(key: string): string {
  // The key is secret and the message may be logged.
  if (!/^[\x21-\x7e]+$/.test(key))
    throw new ConfigError('--key: must be visible ASCII characters, one or more')
  return key
}

interface Received {
  status: number
  failed: boolean
  type: string
  account: Account
  /** Undefined: the answer was written to the file. */
  bytes: Buffer | undefined
  out: string | undefined
}

/** Reads the whole answer. */
async function receive(answer: Answer, out: OutFile | undefined): Promise<Received> {
  const { status, headers, body } = answer
  const type = headers['content-type'] ?? ''
  const failed = status >= 400
  const account = accountOf(headers)
  if (out && !failed) {
    await out.write(body)
    return { status, failed, type, account, bytes: undefined, out: out.name }
  }
  return { status, failed, type, account, bytes: Buffer.from(await body.bytes()), out: undefined }
}

function jsonOf({ status, account, type, bytes, out }: Received): Record<string, unknown> {
  return { status, ...account, type, ...(bytes ? bodyFields(bytes, type) : { out }) }
}

/** Prints or writes the answer and returns the exit code. */
function show({ status, failed, type, account, bytes, out }: Received): number {
  if (!bytes) {
    console.error(`${accountLine(account)} · ${out}`)
    return 0
  }
  let code = failed ? 1 : 0
  if (/^application\/problem\+json/i.test(type)) console.error(problemText(status, bytes.toString('utf8')))
  else if (isText(type)) print(bytes, type)
  else if (process.stdout.isTTY && bytes.length > 0) {
    console.error(
      `plimsoll: the answer is ${type || 'binary'}, ${bytes.length.toLocaleString('en-US')} bytes, and nothing for a terminal: say --out FILE`,
    )
    code = 2
  } else process.stdout.write(bytes)
  // A request that the front rejected never became a job.
  if (account.job !== undefined) console.error(accountLine(account))
  return code
}

function isText(type: string): boolean {
  return /^(text\/|application\/([\w.-]+\+)?(json|xml)\b|image\/svg)/i.test(type)
}

function isJson(type: string): boolean {
  return /^application\/([\w.-]+\+)?json\b/i.test(type)
}

function print(bytes: Buffer, type: string): void {
  const text = bytes.toString('utf8')
  const pretty = process.stdout.isTTY && isJson(type) ? prettyJson(text) : text
  process.stdout.write(process.stdout.isTTY && !pretty.endsWith('\n') ? `${pretty}\n` : pretty)
}

function prettyJson(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2)
  } catch {
    return text
  }
}

function bodyFields(bytes: Buffer, type: string): Record<string, unknown> {
  if (!isText(type)) return bytes.length > 0 ? { bodyBase64: bytes.toString('base64') } : {}
  const text = bytes.toString('utf8')
  if (!isJson(type)) return { body: text }
  try {
    return { body: JSON.parse(text) }
  } catch {
    return { body: text }
  }
}

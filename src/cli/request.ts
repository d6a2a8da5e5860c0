import { readFile } from 'node:fs/promises'
import { buffer } from 'node:stream/consumers'
import { styleText } from 'node:util'
import { ConfigError, UnreachableError } from '../errors.ts'
import { accountLine, accountOf } from './account.ts'
import { type Answer, client, publicUrl, type Question, readUrl } from './client.ts'
import { interruptible } from './interrupt.ts'
import { type Command, type OptionValues, readOptions } from './options.ts'
import { type OutFile, openOut } from './out-file.ts'
import { waitingLine } from './progress.ts'

const options = {
  url: { help: "the cluster's public address", default: publicUrl, value: 'URL' },
  body: { help: 'send this file as the body; -: standard input', default: undefined, value: 'FILE' },
  out: { help: 'write the answer to this file', default: undefined, value: 'FILE' },
  deadline: {
    help: 'milliseconds after which the answer is of no use; 0: none',
    default: 0,
    min: 0,
    value: 'MS',
  },
  json: { help: 'print one JSON object: the answer, and what it cost', default: false },
} as const

/** A client. */
export const request: Command = {
  summary: 'Send one request to a cluster and wait for the answer, however long it takes.',
  usage: 'WORKLOAD [name=value…] [options]      for example: request factorize n=999985999949',
  options,
  async run(args) {
    const { values, rest } = readOptions(args, options)
    const [workload, ...pairs] = rest
    if (workload === undefined)
      throw new ConfigError('request: name a workload; plimsoll workloads lists those that there are')
    const url = readUrl('url', values.url)
    const question = await questionOf(workload, parameters(pairs), values)
    const out = values.out === undefined ? undefined : await openOut(values.out)
    const connection = client(url)
    const stopWaiting = waitingLine(workload)
    try {
      return await interruptible(async (signal) => {
        const answer = await connection.send({ ...question, signal })
        return await deliver(answer, out, values.json, stopWaiting).catch((error) => {
          throw new UnreachableError(`the answer broke off (${error.code ?? error.message})`, {
            cause: error,
          })
        })
      })
    } finally {
      stopWaiting()
      await connection.close()
      await out?.close()
    }
  },
}

function parameters(pairs: string[]): Record<string, string> {
  const found = new Map<string, string>()
  for (const pair of pairs) {
    const at = pair.indexOf('=')
    if (at < 1) throw new ConfigError(`request: ${pair}: must be name=value`)
    const name = pair.slice(0, at)
    if (found.has(name))
      throw new ConfigError(`request: ${name}: given more than once; it must be given once`)
    found.set(name, pair.slice(at + 1))
  }
  return Object.fromEntries(found)
}

async function questionOf(
  workload: string,
  params: Record<string, string>,
  values: OptionValues<typeof options>,
): Promise<Question> {
  const path = `/${encodeURIComponent(workload)}`
  const deadline = values.deadline > 0 ? { 'plimsoll-deadline': `${values.deadline}` } : {}
  if (values.body === undefined) {
    const headers = { 'content-type': 'application/json', ...deadline }
    return { method: 'POST', path, headers, body: JSON.stringify(params) }
  }
  const headers = { 'content-type': 'application/octet-stream', ...deadline }
  const query = new URLSearchParams(params).toString()
  const body = await bodyFrom(values.body)
  return { method: 'POST', path: query ? `${path}?${query}` : path, headers, body }
}

function bodyFrom(file: string): Promise<Uint8Array> {
  if (file === '-') return buffer(process.stdin)
  return readFile(file).catch((error: NodeJS.ErrnoException) => {
    throw new ConfigError(`--body = ${file}: cannot be read (${error.code})`)
  })
}

/** Puts the answer where it is wanted; returns the exit code. */
async function deliver(
  answer: Answer,
  out: OutFile | undefined,
  json: boolean,
  stopWaiting: () => void,
): Promise<number> {
  const type = answer.headers['content-type'] ?? ''
  const failed = answer.status >= 400
  const account = accountOf(answer.headers)
  if (out && !failed) {
    await out.write(answer.body)
    stopWaiting()
    if (json) console.log(JSON.stringify({ status: answer.status, ...account, type, out: out.name }))
    else console.error(`${accountLine(account)} · ${out.name}`)
    return 0
  }
  const bytes = Buffer.from(await answer.body.bytes())
  stopWaiting()
  if (json) {
    console.log(JSON.stringify({ status: answer.status, ...account, type, ...bodyFields(bytes, type) }))
    return failed ? 1 : 0
  }
  let code = failed ? 1 : 0
  if (/^application\/problem\+json/i.test(type)) console.error(problemText(answer.status, bytes))
  else if (isText(type)) print(bytes, type)
  else if (process.stdout.isTTY && bytes.length > 0) {
    console.error(
      `plimsoll: the answer is ${type || 'binary'}, ${bytes.length.toLocaleString('en-US')} bytes, and nothing for a terminal: say --out FILE`,
    )
    code = 2
  } else process.stdout.write(bytes)
  // A request that was refused at the door never became a job.
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

interface ProblemDocument {
  title?: string
  detail?: string
  errors?: { field?: string; value?: unknown; message: string }[]
}

function problemText(status: number, bytes: Buffer): string {
  let problem: ProblemDocument
  try {
    problem = JSON.parse(bytes.toString('utf8'))
  } catch {
    problem = { detail: bytes.toString('utf8') }
  }
  const { title = 'Error', detail, errors = [] } = problem
  const headline = styleText(['bold', 'red'], `${status} ${title}`, { stream: process.stderr })
  const fields = errors.map(({ field, message }) => `  ${field === undefined ? '' : `${field}: `}${message}`)
  // The detail of a refusal of parameters is its field errors, in one line.
  return [headline, ...(fields.length > 0 ? fields : detail ? [`  ${detail}`] : [])].join('\n')
}

import { ConfigError, UnreachableError } from '../lib/errors.ts'
import { operatorField } from '../wire/kept.ts'
import { bearer } from '../wire/token.ts'
import { type Command, readOptions } from './options.ts'
import { adminFrom, adminOptions } from './terminal/admin.ts'
import { problemText } from './terminal/asking.ts'
import { type Client, client } from './terminal/client.ts'
import { clusterUrlFrom, clusterUrlOptions } from './terminal/cluster-url.ts'
import { followKeptJob } from './terminal/follow-kept-job.ts'
import { interruptible } from './terminal/interrupt.ts'
import { type FollowedJob, jobText } from './terminal/job-text.ts'
import { isResult } from './terminal/kept-answer.ts'
import { openOut } from './terminal/out-file.ts'
import { table } from './terminal/table.ts'

const options = {
  ...clusterUrlOptions,
  key: {
    type: 'text',
    help: 'client key, sent as a bearer token; for clusters with --client-by key',
    value: 'KEY',
  },
  state: {
    type: 'text',
    help: 'list only jobs in this state; open: all that have no answer yet',
    choices: ['open', 'accepted', 'queued', 'running', 'paused', 'answered', 'cancelled'],
  },
  workload: { type: 'text', help: 'list only jobs of this workload or route', value: 'NAME' },
  all: {
    type: 'flag',
    help: 'as an operator: the jobs of all clients. The operator token is sent to the public address',
  },
  client: { type: 'text', help: 'with --all: list only jobs of this client', value: 'NAME' },
  tokenFile: adminOptions.tokenFile,
  limit: {
    type: 'integer',
    help: 'list at most this many jobs, the newest first',
    default: 20,
    min: 1,
    max: 1_000,
  },
  out: { type: 'text', help: 'write the result to this file', value: 'FILE' },
  json: { type: 'flag', help: 'print JSON instead of text' },
} as const

type Action = 'list' | 'show' | 'result' | 'cancel' | 'follow'
const actions: readonly Action[] = ['list', 'show', 'result', 'cancel', 'follow']

interface Call {
  connection: Client
  headers: Record<string, string>
  id: string
  values: ReturnType<typeof readOptions<typeof options>>['values']
  signal: AbortSignal
}

/** Jobs that were accepted before they are answered. */
export const jobs: Command = {
  summary: 'List kept jobs, show or follow one, print its result, or cancel it.',
  usage: '[list | show ID | result ID | follow ID | cancel ID] [options]',
  options,
  async run(args) {
    const { values, rest } = readOptions(args, options)
    const [action = 'list', id, ...more] = rest
    if (!actions.includes(action as Action))
      throw new ConfigError(`jobs ${action}: must be one of ${actions.join(', ')}`)
    if (action !== 'list' && id === undefined)
      throw new ConfigError(`jobs ${action}: name a job; plimsoll jobs lists them`)
    if (more.length > 0 || (action === 'list' && id !== undefined))
      throw new ConfigError(`jobs: unexpected ${(action === 'list' ? [id] : more).join(' ')}`)
    if (values.client !== undefined && !values.all) throw new ConfigError('--client requires --all')
    const headers = await headersFrom(values)
    const connection = client(await clusterUrlFrom(values))
    try {
      return await interruptible((signal) =>
        run(action as Action, { connection, headers, id: encodeURIComponent(id ?? ''), values, signal }),
      )
    } finally {
      await connection.close()
    }
  },
}

async function headersFrom(values: Call['values']): Promise<Record<string, string>> {
  const { key, all } = values
  const operator = all ? await (await adminFrom({ ...values, admin: undefined })).token() : undefined
  return {
    ...(key !== undefined && { authorization: bearer(key) }),
    ...(operator !== undefined && { [operatorField]: bearer(operator) }),
  }
}

function run(action: Action, call: Call): Promise<number> {
  switch (action) {
    case 'list':
      return list(call)
    case 'show':
      return show(call, 'GET')
    case 'cancel':
      return show(call, 'DELETE')
    case 'result':
      return result(call)
    case 'follow':
      return follow(call)
  }
}

async function list(call: Call): Promise<number> {
  const { state, workload, limit, json, all, client: of } = call.values
  const query = new URLSearchParams({
    ...(state !== undefined && { state }),
    ...(workload !== undefined && { workload }),
    ...(of !== undefined && { client: of }),
    limit: `${limit}`,
  })
  const found = await ask<{ jobs: FollowedJob[] }>(call, 'GET', `?${query}`)
  if (!found) return 1
  if (json) console.log(JSON.stringify(found))
  else if (found.jobs.length === 0) console.log('no jobs')
  else console.log(listText(found.jobs, all))
  return 0
}

function listText(jobs: readonly FollowedJob[], all: boolean): string {
  const head = ['job', 'workload', 'request', ...(all ? ['client'] : []), 'state', 'accepted', 'status']
  const rows = jobs.map(({ id, workload, method, target, client: of = '', state, acceptedAt, answer }) => [
    ...[id, workload, shortened(`${method} ${target}`), ...(all ? [of] : []), state, acceptedAt],
    answer ? `${answer.status}` : '',
  ])
  return table(head, rows, [...head.keys()].slice(0, -1))
}

/** Targets may be thousands of characters long. */
const longestRequest = 60

function shortened(text: string): string {
  return text.length > longestRequest ? `${text.slice(0, longestRequest - 1)}…` : text
}

async function show(call: Call, method: 'GET' | 'DELETE'): Promise<number> {
  const job = await ask<FollowedJob>(call, method, `/${call.id}`)
  if (!job) return 1
  console.log(call.values.json ? JSON.stringify(job) : jobText(job, Date.now()))
  return 0
}

async function follow(call: Call): Promise<number> {
  const { connection, headers, id, signal, values } = call
  const job = await followKeptJob(connection, {
    ...{ path: `/-/jobs/${id}/events`, headers, signal },
    ...(!values.json && { line: (text: string) => console.error(text) }),
  })
  if (typeof job === 'string') {
    console.error(job)
    return 1
  }
  console.log(values.json ? JSON.stringify(job) : jobText(job, Date.now()))
  return 0
}

async function result(call: Call): Promise<number> {
  const { connection, headers, id, signal, values } = call
  const answer = await connection.send({ method: 'GET', path: `/-/jobs/${id}/result`, headers, signal })
  if (!isResult(answer) && answer.status !== 202) {
    console.error(problemText(answer.status, await answer.body.text()))
    return 1
  }
  if (!isResult(answer)) {
    const job = JSON.parse(await answer.body.text()) as FollowedJob
    console.error(`job ${job.id} has no result yet\n${jobText(job, Date.now())}`)
    return 1
  }
  if (values.out !== undefined) {
    const out = await openOut(values.out)
    await out.write(answer.body).finally(() => out.close())
  } else process.stdout.write(await answer.body.bytes())
  return answer.status < 400 ? 0 : 1
}

/** Undefined: the cluster refused, and why has been printed. */
async function ask<T>(
  { connection, headers, signal }: Call,
  method: string,
  path: string,
): Promise<T | undefined> {
  const { status, body } = await connection.send({ method, path: `/-/jobs${path}`, headers, signal })
  const text = await body.text()
  if (status !== 200) {
    console.error(problemText(status, text))
    return undefined
  }
  try {
    return JSON.parse(text) as T
  } catch {
    throw new UnreachableError('the answer is not that of a cluster')
  }
}

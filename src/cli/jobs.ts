import { styleText } from 'node:util'
import { ConfigError, UnreachableError } from '../lib/errors.ts'
import { type Command, readOptions } from './options.ts'
import { problemText } from './terminal/asking.ts'
import { type Client, client } from './terminal/client.ts'
import { clusterUrlFrom, clusterUrlOptions } from './terminal/cluster-url.ts'
import { type FollowedJob, followKeptJob } from './terminal/follow-kept-job.ts'
import { interruptible } from './terminal/interrupt.ts'
import { openOut } from './terminal/out-file.ts'
import { duration, table } from './terminal/table.ts'

const options = {
  ...clusterUrlOptions,
  key: {
    type: 'text',
    help: 'client key, sent as a bearer token; for clusters with --client-by key',
    value: 'KEY',
  },
  state: { type: 'text', help: 'list only jobs in this state', choices: ['open', 'answered', 'cancelled'] },
  workload: { type: 'text', help: 'list only jobs of this workload or route', value: 'NAME' },
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
    const connection = client(await clusterUrlFrom(values))
    const headers: Record<string, string> =
      values.key === undefined ? {} : { authorization: `Bearer ${values.key}` }
    try {
      return await interruptible((signal) =>
        run(action as Action, { connection, headers, id: encodeURIComponent(id ?? ''), values, signal }),
      )
    } finally {
      await connection.close()
    }
  },
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
  const { state, workload, limit, json } = call.values
  const query = new URLSearchParams({
    ...(state !== undefined && { state }),
    ...(workload !== undefined && { workload }),
    limit: `${limit}`,
  })
  const found = await ask<{ jobs: FollowedJob[] }>(call, 'GET', `?${query}`)
  if (!found) return 1
  if (json) console.log(JSON.stringify(found))
  else if (found.jobs.length === 0) console.log('no jobs')
  else
    console.log(
      table(['job', 'workload', 'state', 'accepted', 'status'], found.jobs.map(rowOf), [0, 1, 2, 3]),
    )
  return 0
}

function rowOf({ id, workload, state, acceptedAt, answer }: FollowedJob): string[] {
  return [id, workload, state, acceptedAt, answer ? `${answer.status}` : '']
}

async function show(call: Call, method: 'GET' | 'DELETE'): Promise<number> {
  const job = await ask<FollowedJob>(call, method, `/${call.id}`)
  if (!job) return 1
  console.log(call.values.json ? JSON.stringify(job) : jobText(job, Date.now()))
  return 0
}

async function follow(call: Call): Promise<number> {
  const { connection, headers, id, signal, values } = call
  const job = await followKeptJob(connection, { path: `/-/jobs/${id}/events`, headers, signal })
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
  // An answer of the keeper itself, in place of the job's.
  const isResult = answer.headers['plimsoll-job'] !== undefined
  if (!isResult && answer.status !== 202) {
    console.error(problemText(answer.status, await answer.body.text()))
    return 1
  }
  if (!isResult) {
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

/** One line per fact. */
export function jobText(job: FollowedJob, now: number): string {
  const { id, workload, state, acceptedAt, endedAt, eta, progress, worker, waitsFor, answer, facts } = job
  const left = eta && state !== 'answered' && state !== 'cancelled' ? etaText(eta, now) : undefined
  const lines: [name: string, value: string | undefined][] = [
    ['job', id],
    ['workload', workload],
    ['state', worker === undefined ? state : `${state} on ${worker}`],
    ['accepted', acceptedAt],
    ['ended', endedAt],
    ['expected end', left],
    ['progress', progress && progressText(progress)],
    ['waits', waitsFor && `the cluster refused it for now: ${waitsFor}`],
    [
      'answer',
      answer && `status ${answer.status}, ${answer.bytes} bytes${answer.isKept ? '' : ', not kept any more'}`,
    ],
    ['saved', facts?.saved === undefined ? undefined : `${facts.saved} units of work`],
    ['story', job.job === undefined ? undefined : `plimsoll why ${job.job}`],
  ]
  return lines
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${styleText('dim', name.padEnd(12))}  ${value}`)
    .join('\n')
}

function etaText({ earliest, expected, latest }: NonNullable<FollowedJob['eta']>, now: number): string {
  const left = (time: string) => duration(Math.max(0, Date.parse(time) - now))
  return `in ${left(expected)} (${left(earliest)} to ${left(latest)})`
}

export function progressText({ done, remaining }: { done: number; remaining: number }): string {
  const all = done + remaining
  return all > 0 ? `${Math.floor((done / all) * 100)} % of the work` : 'none yet'
}

import type { OptionValues } from '../config/option.ts'
import { ConfigError, UnreachableError } from '../lib/errors.ts'
import { type WhyDocument, whyText } from '../story/document.ts'
import { operatorField } from '../wire/kept.ts'
import { bearer } from '../wire/token.ts'
import { type Command, readOptions } from './options.ts'
import { type Admin, adminFrom, adminOptions } from './terminal/admin.ts'
import { problemText } from './terminal/asking.ts'
import { client, refusalText } from './terminal/client.ts'
import { clusterUrlFrom, clusterUrlOptions } from './terminal/cluster-url.ts'
import { terminalWidth } from './terminal/width.ts'

const options = {
  ...clusterUrlOptions,
  ...adminOptions,
  json: { type: 'flag', help: 'print JSON instead of text' },
} as const

/** Types of problems: the cluster does not have the story. */
const withoutStory: ReadonlySet<string | undefined> = new Set(
  ['unknown-job', 'not-recorded'].map((code) => `urn:plimsoll:${code}`),
)

/** The story of a job. */
export const why: Command = {
  summary: 'Print the story of one job: why it started, waited or was paused where and when it did.',
  usage:
    'JOB [options]\n       JOB is the value of the plimsoll-job response header, or the id of a kept job',
  options,
  async run(args) {
    const { values, rest } = readOptions(args, options)
    if (rest.length !== 1)
      throw new ConfigError(
        'why: give one job id, the value of the plimsoll-job response header or the id of a kept job',
      )
    const admin = await adminFrom(values)
    const job = keptId.test(rest[0]!) ? await jobOfKept(rest[0]!, values, admin) : rest[0]!
    if (job === undefined) return 1
    const story = await askWhy(admin, job)
    if ('problem' in story) {
      console.error(story.problem)
      return 1
    }
    console.log(values.json ? JSON.stringify(story) : whyText(story, terminalWidth()))
    return 0
  },
}

/** Ids of kept jobs, which the brain does not know. */
const keptId = /^[0-9a-z]{9}-[0-9a-f]{32}$/

/** The id by which the brain knows a kept job. Undefined: there is none, and why has been printed. */
async function jobOfKept(
  id: string,
  values: OptionValues<typeof options>,
  { token }: Admin,
): Promise<string | undefined> {
  const connection = client(await clusterUrlFrom(values))
  try {
    const headers = { [operatorField]: bearer(await token()) }
    const { status, body } = await connection.send({ method: 'GET', path: `/-/jobs/${id}`, headers })
    const text = await body.text()
    if (status !== 200) {
      console.error(problemText(status, text))
      return undefined
    }
    const { job, facts } = JSON.parse(text) as { job?: string; facts?: { job?: string } }
    const known = job ?? facts?.job
    if (known === undefined)
      console.error(`plimsoll: job ${id} has not been given to a worker, so it has no story`)
    return known
  } finally {
    await connection.close()
  }
}

/** Rejects with an `UnreachableError` if no cluster answers at the address. */
export async function askWhy({ url, token }: Admin, job: string): Promise<WhyDocument | { problem: string }> {
  const connection = client(url, token)
  try {
    const path = `/api/jobs/${encodeURIComponent(job)}/why`
    const { status, body } = await connection.send({ method: 'GET', path })
    const text = await body.text()
    const answer = parsed(text)
    if (status === 200 && answer?.story) return answer as WhyDocument
    if (status === 404 && withoutStory.has(answer?.type)) return { problem: problemText(status, text) }
    if (status === 401 || status === 403) throw new UnreachableError(refusalText(url, status, text))
    throw new UnreachableError(`${url.origin}${path} answered ${status}: is it the admin port of a cluster?`)
  } finally {
    await connection.close()
  }
}

function parsed(text: string): (Partial<WhyDocument> & { type?: string }) | undefined {
  try {
    return JSON.parse(text) ?? undefined
  } catch {
    return undefined
  }
}

/** The story of a job that has just been answered. If there is none, stderr says why and the command still succeeds. */
export async function whyAfterwards(admin: Admin, job: string | undefined): Promise<WhyDocument | undefined> {
  if (job === undefined) {
    console.error('plimsoll: the request did not become a job, so there is no story of it')
    return undefined
  }
  try {
    const story = await askWhy(admin, job)
    if (!('problem' in story)) return story
    console.error(story.problem)
  } catch (error) {
    if (!(error instanceof UnreachableError)) throw error
    console.error(`plimsoll: the story cannot be told: ${error.message} (--admin names the admin address)`)
  }
  return undefined
}

import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import type { RestartEnd, RestartStep } from '../admin/restart.ts'
import { ConfigError, UnreachableError } from '../lib/errors.ts'
import { adminUrl, client, readUrl } from './client.ts'
import { type Command, readOptions } from './options.ts'

const options = {
  admin: { help: "the cluster's admin address", default: adminUrl, value: 'URL' },
  token: {
    help: 'the secret of the cluster, if it is elsewhere; or set PLIMSOLL_TOKEN',
    default: '',
    value: 'T',
  },
  fronts: { help: 'only fronts', default: false },
  workers: { help: 'only workers', default: false },
} as const

/** A rolling restart. */
export const restart: Command = {
  summary: 'Replace the workers and fronts of a cluster one after another, without an error for any client.',
  usage: '[options]',
  options,
  async run(args) {
    const { values, rest } = readOptions(args, options)
    if (rest.length > 0) throw new ConfigError(`restart: unexpected ${rest.join(' ')}`)
    const url = readUrl('admin', values.admin)
    const token = values.token || process.env.PLIMSOLL_TOKEN
    const all = values.fronts === values.workers
    const connection = client(url)
    try {
      const { status, body } = await connection.send({
        method: 'POST',
        path: '/api/restart',
        headers: { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) },
        body: JSON.stringify({ fronts: all || values.fronts, workers: all || values.workers }),
      })
      if (status !== 200) {
        throw new UnreachableError(`${url.origin} answered ${status}: ${(await body.text()).trim()}`)
      }
      return await follow(body)
    } finally {
      await connection.close()
    }
  },
}

async function follow(body: Readable): Promise<number> {
  for await (const line of createInterface({ input: Readable.from(body) })) {
    const step = JSON.parse(line) as RestartStep | RestartEnd
    if ('error' in step) {
      console.error(`plimsoll: ${step.error}`)
      return 1
    }
    if ('done' in step) {
      console.log('Done.')
      return 0
    }
    const who = 'front' in step ? `front ${step.front}` : `worker ${step.worker}`
    console.log(step.by === undefined ? `${who} is gone` : `${who} → ${step.by}`)
  }
  throw new UnreachableError('the cluster ended before the restart did')
}

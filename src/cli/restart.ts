import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import type { RestartEnd, RestartStep } from '../admin/restart.ts'
import { UnreachableError } from '../lib/errors.ts'
import { describeStep } from './cluster/reload.ts'
import { type Command, readOnlyOptions } from './options.ts'
import { adminOption, client, readUrl } from './terminal/client.ts'

const options = {
  ...adminOption,
  token: {
    type: 'text',
    help: "the cluster's secret, if it runs on another machine; default: PLIMSOLL_TOKEN",
    default: '',
    value: 'T',
  },
  fronts: { type: 'flag', help: 'restart fronts only' },
  workers: { type: 'flag', help: 'restart workers only' },
} as const

/** A rolling restart. */
export const restart: Command = {
  summary: 'Replace the workers and fronts of a cluster one after another, without failed requests.',
  usage: '[options]',
  options,
  async run(args) {
    const values = readOnlyOptions('restart', args, options)
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
    console.log(describeStep(step))
  }
  throw new UnreachableError('the cluster ended before the restart did')
}

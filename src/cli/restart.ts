import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import type { RestartEnd, RestartStep } from '../admin/restart.ts'
import { UnreachableError } from '../lib/errors.ts'
import { describeStep } from './cluster/reload.ts'
import { type Command, readOnlyOptions } from './options.ts'
import { adminFrom, adminOptions } from './terminal/admin.ts'
import { client, refusalText } from './terminal/client.ts'

const options = {
  ...adminOptions,
  fronts: { type: 'flag', help: 'restart fronts only' },
  workers: { type: 'flag', help: 'restart workers only' },
} as const

/** A rolling restart. */
export const restart: Command = {
  summary: 'Bring new code to a cluster, or replace its workers and fronts, without failed requests.',
  usage: '[options]',
  options,
  async run(args) {
    const values = readOnlyOptions('restart', args, options)
    const { url, token } = await adminFrom(values)
    const all = values.fronts === values.workers
    const connection = client(url, token)
    try {
      const { status, body } = await connection.send({
        method: 'POST',
        path: '/api/restart',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ fronts: all || values.fronts, workers: all || values.workers }),
      })
      if (status !== 200) {
        throw new UnreachableError(refusalText(url, status, await body.text()))
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

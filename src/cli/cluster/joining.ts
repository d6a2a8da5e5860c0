/** Options shared by `worker` and `front`, which join a running cluster. */

import { hostname } from 'node:os'
import type { OptionSpecs, OptionValues } from '../../config/option.ts'
import { ConfigError } from '../../lib/errors.ts'
import { idRule, isId } from '../../model/worker.ts'

export const joinOptions = {
  join: {
    type: 'text',
    help: "the cluster's admin address, for example http://127.0.0.1:8081",
    default: '',
    value: 'URL',
  },
  token: {
    type: 'text',
    help: "the cluster's secret; default: the environment variable PLIMSOLL_TOKEN",
    default: '',
    value: 'TOKEN',
  },
  id: {
    type: 'text',
    help: 'its name, unique in the cluster; default: host name and process id',
  },
} as const satisfies OptionSpecs

export const leaveOptions = {
  leaveAfter: {
    type: 'number',
    help: 'grace period for jobs in progress on SIGTERM, in seconds; a second signal ends it at once',
    default: 30,
    min: 0,
    value: 'SECONDS',
  },
  launch: { type: 'text', help: 'set by the cluster that starts it', value: 'ID' },
} as const satisfies OptionSpecs

export function joinFrom({ join, token: given, id }: OptionValues<typeof joinOptions>): {
  join: URL
  token: string
} {
  if (id !== undefined && !isId(id)) throw new ConfigError(`--id = ${id}: must be ${idRule}`)
  const token = given || process.env.PLIMSOLL_TOKEN
  if (!token) throw new ConfigError('--token: must be given, or the environment variable PLIMSOLL_TOKEN set')
  if (!URL.canParse(join))
    throw new ConfigError(`--join = ${join}: must be a URL such as http://127.0.0.1:8081`)
  return { join: new URL(join), token }
}

export function defaultId(): string {
  const host = hostname().replace(/[^A-Za-z0-9._-]/g, '-')
  return `${host.slice(0, 50)}-${process.pid}`
}

/** Aborts on the first SIGTERM or SIGINT. */
export function untilSignal(): AbortSignal {
  const stop = new AbortController()
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => stop.abort())
  return stop.signal
}

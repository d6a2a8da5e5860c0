/** Options shared by `worker` and `front`, which join a running cluster. */

import { connect } from 'node:net'
import { hostname } from 'node:os'
import { resolve } from 'node:path'
import type { OptionSpecs, OptionValues } from '../../config/option.ts'
import { ConfigError, WireError } from '../../lib/errors.ts'
import { isThisMachine } from '../../lib/loopback.ts'
import { forgetTokens, readToken, tokenFile, tokensInEnvironment, tokenVariables } from '../../live/tokens.ts'
import { idRule, isId } from '../../model/worker.ts'
import { endpointOf, isSecure, originOf } from '../../wire/connect.ts'
import { JoinAddresses } from '../../wire/join-addresses.ts'
import { watchNpm } from './npm-parent.ts'

/** Time allowed for a connection. */
const connectMs = 10_000

export const joinOptions = {
  join: {
    type: 'text',
    help: 'tls://HOST:PORT, the --join-address of the cluster; on its machine also its admin address, such as http://127.0.0.1:8081. Several addresses with commas between them: clusters with one store, of which it joins the one that leads',
    default: '',
    value: 'URL',
  },
  tokenFile: {
    type: 'text',
    help: `file with the token of its role, - is standard input; default: the environment variable ${tokenVariables.worker} or ${tokenVariables.front}, or tokens/worker or tokens/front in the data folder`,
    value: 'FILE',
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

/** `given`: the token, if the process that started this one has sent it. */
export function joinFrom(
  { join: address, tokenFile: file, id, data }: OptionValues<typeof joinOptions> & { data: string },
  role: 'worker' | 'front',
  given?: string,
): { join: JoinAddresses; token: string } {
  if (id !== undefined && !isId(id)) throw new ConfigError(`--id = ${id}: must be ${idRule}`)
  const join = readJoins(address)
  const read = () =>
    file === undefined ? tokensInEnvironment()[role] : readToken(file, `--token-file = ${file}`)
  const token = given ?? read()
  // Nothing that this process starts may see one.
  forgetTokens()
  return { join, token: token ?? keptToken(data, role) }
}

function keptToken(data: string, role: 'worker' | 'front'): string {
  try {
    return readToken(tokenFile(resolve(data), role))
  } catch (error) {
    throw new ConfigError(
      `the ${role} token is required, but ${(error as Error).message}\nCopy it from the data folder of the cluster and give --token-file FILE, or set ${tokenVariables[role]}.`,
    )
  }
}

/** Throws ConfigError unless all are addresses of one kind, each of them once. */
function readJoins(list: string): JoinAddresses {
  const all = list.split(',').map((address) => readJoin(address.trim()))
  const seen = new Set(all.map(originOf))
  if (seen.size < all.length) throw new ConfigError(`--join = ${list}: names an address twice`)
  if (new Set(all.map(isSecure)).size > 1)
    throw new ConfigError(`--join = ${list}: must be only tls:// or only http:// addresses`)
  return new JoinAddresses(all)
}

function readJoin(address: string): URL {
  if (address === '')
    throw new ConfigError(
      '--join: required: tls://HOST:PORT, the --join-address of the cluster, or on its machine its admin address, such as http://127.0.0.1:8081',
    )
  const join = URL.canParse(address) ? new URL(address) : undefined
  if (join && isSecure(join) && join.hostname !== '' && join.port !== '') return join
  if (join?.protocol === 'http:') {
    if (isThisMachine(endpointOf(join).host)) return join
    throw new ConfigError(
      `--join = ${address}: must be tls://HOST:PORT for a cluster on another machine, which needs up --join-address`,
    )
  }
  throw new ConfigError(
    `--join = ${address}: must be tls://HOST:PORT, or an address of this machine such as http://127.0.0.1:8081`,
  )
}

/** The address of this machine on the way to the cluster, or to the first of several that answers; loopback if they are on this machine. */
export async function hostTowards(join: JoinAddresses): Promise<string> {
  if (!join.isSecure) return '127.0.0.1'
  const found = await Promise.any(join.all.map(localHost)).catch(({ errors }: AggregateError) => errors[0])
  if (typeof found === 'string') return found
  throw found
}

function localHost(join: URL): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ ...endpointOf(join), timeout: connectMs })
    const fail = (why: string) => {
      socket.destroy()
      reject(new WireError(`cannot join ${originOf(join)}: ${why}`, false))
    }
    socket.once('error', (error: NodeJS.ErrnoException) => fail(error.code ?? error.message))
    socket.once('timeout', () => fail(`no answer for ${connectMs / 1000} s`))
    socket.once('connect', () => {
      resolve(socket.localAddress!)
      socket.destroy()
    })
  })
}

export function defaultId(): string {
  const host = hostname().replace(/[^A-Za-z0-9._-]/g, '-')
  return `${host.slice(0, 50)}-${process.pid}`
}

/** Aborts on the first SIGTERM or SIGINT, and when the npm that started this process has ended. */
export function untilSignal(): AbortSignal {
  const stop = new AbortController()
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => stop.abort())
  watchNpm(() => stop.abort())
  return stop.signal
}

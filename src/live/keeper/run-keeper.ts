/** The keeper: leads when no other cluster does, goes on with the jobs that are open then, and serves fronts. */

import { createHash } from 'node:crypto'
import type { Server } from 'node:http'
import type { AddressInfo, Server as NetServer } from 'node:net'
import { availableParallelism, hostname } from 'node:os'
import { type ClusterView, clusterView } from '../../keeper/cluster-view.ts'
import { Keeper } from '../../keeper/keeper.ts'
import { keeperServer } from '../../keeper/keeper-server.ts'
import { Deliveries } from '../../keeper/webhooks/deliveries.ts'
import { refusalLog } from '../../lib/refusal-log.ts'
import { isShared, openJobStore } from '../../store/open-store.ts'
import type { JobStore } from '../../store/store.ts'
import { secureListener } from '../../wire/secure.ts'
import { closeFront } from '../stopping.ts'
import type { KeeperOverload } from './keeper-overload.ts'
import type { KeeperSettings } from './messages.ts'
import { type LeaseTimes, type TermParts, Terms } from './terms.ts'
import { webhookSecret } from './webhook-secret.ts'

export interface KeeperOptions {
  settings(): KeeperSettings
  token: string
  fronts(): readonly number[]
  log(line: string): void
  /** The cluster leads others with the same database from now on, or no more. */
  led?(term: number | undefined): void
  /** Undefined: others watch this process. */
  overload?: KeeperOverload
}

export interface RunningKeeper {
  port: number
  joinPort: number | undefined
  close(): Promise<void>
}

/** Only one cluster can open a folder: nobody waits for its lease. */
const timesOfFolder: Omit<LeaseTimes, 'yieldMs'> = { ttlMs: 10_000, renewMs: 3_000, askMs: 3_000 }
/** The lease ends 4 to 5 s after the death of a leader, and a standby learns of that within a quarter of a second. */
const timesOfDatabase: Omit<LeaseTimes, 'yieldMs'> = { ttlMs: 5_000, renewMs: 1_000, askMs: 250 }
/** If all clusters start at once, the standby is not the first. */
const standbyYieldMs = 10_000
/** How long jobs are remembered without their results, as a multiple of the time for which results are kept. */
const rememberTimes = 7

/** Rejects if the store cannot be opened, or the signal is aborted before. Then nothing is left open. */
export async function startKeeper(options: KeeperOptions, signal?: AbortSignal): Promise<RunningKeeper> {
  await using opening = new AsyncDisposableStack()
  const { settings, token, log, led, overload } = options
  const { store: location, standby, webhooks } = settings()
  const store = opening.adopt(await openJobStore(location), (each) => each.close())
  signal?.throwIfAborted()
  const view = clusterView(() => settings().admin)
  const times = isShared(location) ? timesOfDatabase : timesOfFolder
  const terms = opening.adopt(
    new Terms({
      ...{ ...times, yieldMs: standby ? standbyYieldMs : 0, store, holder: holderOf(token), log },
      ...(led && isShared(location) && { led }),
      begin: (term, ending) => beginTerm({ ...options, store, view }, term, ending),
    }),
    (each) => each.close(),
  )
  await terms.start()
  const closing = new AbortController()
  const serve = () =>
    keeperServer({
      keeper: () => terms.keeper,
      operatorToken: () => settings().admin.token,
      ...{ view, store, token, webhookHosts: webhooks.hosts, closing: closing.signal, now, log },
      ...(overload && { overload }),
    })
  const server = serve()
  const port = await portOf(server, '127.0.0.1')
  opening.defer(() => closeFront(server, 1_000))
  const joinPort = await openJoinPort(settings().join, { serve, log }, opening)
  // Fronts that wait for answers are told where the jobs are; then their connections end.
  opening.defer(() => closing.abort())
  const opened = opening.move()
  return { port, joinPort, close: () => opened.disposeAsync() }
}

/** The port for fronts of other machines, which prove that they know the token of fronts; `opening` closes it. */
async function openJoinPort(
  join: KeeperSettings['join'],
  { serve, log }: { serve(): Server; log(line: string): void },
  opening: AsyncDisposableStack,
): Promise<number | undefined> {
  if (!join) return undefined
  const server = serve()
  const tokenOf = (role: string) => (role === 'front' ? join.token : undefined)
  const { listener, close } = secureListener(server, { tokenOf, refused: refusalLog('keeper', log) })
  const port = await portOf(listener, join.host)
  opening.defer(() => close())
  opening.defer(() => closeFront(server, 1_000, listener))
  return port
}

/** Resolves with a free port, on which the server listens. */
async function portOf(server: NetServer, host: string): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, host, resolve)
  })
  return (server.address() as AddressInfo).port
}

/** The keeper of one supervisor: the next one need not wait for the lease of one that was killed. */
function holderOf(token: string): string {
  return `${hostname()} ${createHash('sha256').update(token).digest('base64url').slice(0, 16)}`
}

const now = () => Date.now()

async function beginTerm(
  { settings, token, fronts, log, store, view }: KeeperOptions & { store: JobStore; view: ClusterView },
  { epoch, leads, fenced }: TermParts,
  ending: AsyncDisposableStack,
): Promise<Keeper> {
  const { keepMs, keepBytes, most, limits, ended, webhooks } = settings()
  const retention = {
    ...{ keepMs, keepBytes },
    ...{ rememberMs: keepMs * rememberTimes, rememberJobs: ended.jobs, rememberBytes: ended.bytes },
  }
  const keeper = new Keeper({
    ...{ store, epoch, fronts, token, most, limits, retention, now, log, fenced, leads },
    random: Math.random,
    cores: () => view.cores() || availableParallelism(),
  })
  ending.defer(() => keeper.close())
  await keeper.start()
  const { hosts } = webhooks
  if (hosts.length > 0) {
    const secret = await webhookSecret(store, webhooks.secretFile, log)
    const deliveries = new Deliveries({ store, epoch, hosts, secret, now, random: Math.random, log })
    ending.adopt(deliveries, (each) => each.close())
    deliveries.start()
  }
  // Before the deliveries, which may take long to close: meanwhile no jobs may be sent.
  ending.defer(() => keeper.close())
  return keeper
}

/** The keeper: takes the lease of the store, goes on with the jobs that are open, and serves fronts. */

import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { availableParallelism, hostname } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { clusterView } from '../../keeper/cluster-view.ts'
import { Keeper } from '../../keeper/keeper.ts'
import { keeperServer } from '../../keeper/keeper-server.ts'
import { Deliveries } from '../../keeper/webhooks/deliveries.ts'
import { newSecret } from '../../keeper/webhooks/signature.ts'
import { privateFile } from '../../lib/private-files.ts'
import { openJobStore } from '../../store/open-store.ts'
import type { JobStore, Lease } from '../../store/store.ts'
import { closeFront } from '../stopping.ts'
import type { KeeperSettings } from './messages.ts'

export interface KeeperOptions {
  settings(): KeeperSettings
  token: string
  fronts(): readonly number[]
  log(line: string): void
  /** Another keeper leads now. */
  fenced(): void
}

export interface RunningKeeper {
  port: number
  close(): Promise<void>
}

const ttlMs = 10_000
/** How often the lease is renewed, or asked for while another keeper has it. */
const renewMs = 3_000
/** How long jobs are remembered without their results, as a multiple of the time for which results are kept. */
const rememberTimes = 7

/** Rejects if the store cannot be opened, or the signal is aborted before the lease is there. Then nothing is left open. */
export async function startKeeper(options: KeeperOptions, signal?: AbortSignal): Promise<RunningKeeper> {
  await using opening = new AsyncDisposableStack()
  const { settings, token, fronts, log, fenced } = options
  const { store: location, keepMs, keepBytes, most, webhooks } = settings()
  const store = opening.adopt(await openJobStore(location), (each) => each.close())
  const lease = opening.adopt(await leaseOf(store, log, signal), (each) => each.release().catch(() => {}))
  const now = () => Date.now()
  const retention = { keepMs, keepBytes, rememberMs: keepMs * rememberTimes }
  const view = clusterView(() => settings().admin)
  const keeper = new Keeper({
    cores: () => view.cores() || availableParallelism(),
    ...{ store, epoch: lease.epoch, fronts, token, most, retention, now, log, fenced },
    random: Math.random,
  })
  opening.defer(() => keeper.close())
  await keeper.start()
  const { hosts: webhookHosts } = webhooks
  if (webhookHosts.length > 0) {
    const secret = webhookSecret(webhooks.secretFile)
    const parts = { store, epoch: lease.epoch, hosts: webhookHosts, secret, now, random: Math.random, log }
    const deliveries = opening.adopt(new Deliveries(parts), (each) => each.close())
    deliveries.start()
  }
  const server = keeperServer({ keeper, store, view, token, webhookHosts, now, log })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  opening.defer(() => closeFront(server, 1_000))
  const renewing = setInterval(() => void renew(lease, fenced), renewMs)
  opening.defer(() => clearInterval(renewing))
  const opened = opening.move()
  const { port } = server.address() as AddressInfo
  return { port, close: () => opened.disposeAsync() }
}

/** Made once; receivers are given it by the operator. */
function webhookSecret(file: string): string {
  if (!existsSync(file)) writeFileSync(file, `${newSecret()}\n`, { mode: privateFile, flag: 'wx' })
  return readFileSync(file, 'utf8').trim()
}

async function leaseOf(store: JobStore, log: (line: string) => void, signal?: AbortSignal): Promise<Lease> {
  const holder = `${hostname()} ${process.pid}`
  for (let waits = 0; ; waits++) {
    const lease = await store.lead(holder, ttlMs)
    if (lease) return lease
    if (waits === 0) log('keeper: another cluster uses the store; this one waits for its lease')
    await delay(renewMs, undefined, { signal })
  }
}

/** A store that cannot be reached says nothing about other keepers: writes are fenced there. */
async function renew(lease: Lease, fenced: () => void): Promise<void> {
  const isOurs = await lease.renew(ttlMs).catch(() => true)
  if (!isOurs) fenced()
}

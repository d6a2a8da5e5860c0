/** Opens a cluster for `createCluster`. Loaded on demand: it needs most of the package. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { checkNumber, invalid } from '../lib/checks.ts'
import { StartError } from '../lib/errors.ts'
import { type Cluster, startCluster } from '../live/cluster.ts'
import { resolveOptions } from './cluster-options.ts'
import type { CreateClusterOptions, RunningCluster } from './cluster-types.ts'
import { withOptionNames } from './option-names.ts'
import { logFaults } from './policies/guard.ts'

const usualReadyMs = 60_000

export async function openCluster(options: CreateClusterOptions): Promise<RunningCluster> {
  await using opening = new AsyncDisposableStack()
  const log = options.log ?? (() => {})
  const faults = logFaults(log)
  const { cluster, stopMs } = await withOptionNames('createCluster', async () => {
    if (typeof log !== 'function') throw invalid('log', log, 'a function')
    const { readyWithinMs = usualReadyMs, signal } = options
    checkNumber('readyWithinMs', readyWithinMs, { above: 0, max: 2 ** 31 - 1 })
    throwIfAborted(signal)
    const folder = opening.adopt(mkdtempSync(join(tmpdir(), 'plimsoll-')), remove)
    const { cluster: resolved, stopMs } = resolveOptions(options, { folder, log, onFault: faults.onFault })
    const cluster = opening.adopt(await startCluster(resolved), (started) => started.stop(0))
    if (resolved.min > 0) await readyWithin(cluster, readyWithinMs, signal, faults.last)
    throwIfAborted(signal)
    return { cluster, stopMs }
  })
  const opened = opening.move()
  let closed: Promise<void> | undefined
  const close = () => {
    closed ??= cluster.stop(stopMs).then(() => opened.disposeAsync())
    return closed
  }
  const { url, adminUrl, joinUrl, tokens, workloads } = cluster
  return {
    ...{ url, adminUrl, joinUrl, tokens, workloads, close },
    state() {
      const { idleBeside, leftBehind, ...state } = cluster.state()
      return state
    },
    [Symbol.asyncDispose]: close,
  }
}

function remove(folder: string): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
}

function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new StartError('createCluster: the start was aborted', { cause: signal.reason })
}

/** Rejects with a `StartError` that says what went wrong, as far as it is known. */
async function readyWithin(
  cluster: Cluster,
  limitMs: number,
  signal: AbortSignal | undefined,
  lastFault: () => string | undefined,
): Promise<void> {
  const ended = Promise.withResolvers<'timeout' | 'aborted'>()
  const timer = setTimeout(() => ended.resolve('timeout'), limitMs)
  const abort = () => ended.resolve('aborted')
  signal?.addEventListener('abort', abort)
  try {
    const outcome = await Promise.race([cluster.ready, ended.promise])
    if (outcome !== 'timeout') return
    const why = cluster.state().launchTroubles.at(-1) ?? lastFault()
    throw new StartError(
      `createCluster: no worker became ready within ${limitMs / 1000} s${why === undefined ? '' : `; ${why}`}`,
    )
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', abort)
  }
}

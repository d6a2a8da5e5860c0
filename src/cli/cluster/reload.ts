/** Brings new code to a running cluster: on SIGHUP, and with `--watch` whenever its files change. */

import { relative } from 'node:path'
import type { RestartStep, RestartWhat } from '../../admin/restart.ts'
import type { Cluster } from '../../live/cluster.ts'
import { hasTerminal } from '../terminal/hang-up.ts'
import { watchFiles } from './watch.ts'

export interface ReloadParts {
  cluster: Pick<Cluster, 'restart' | 'watched'>
  watch: boolean
  /** The terminal of this process was closed. Undefined: another process has noticed whether it was. */
  hangUp: (() => void) | undefined
  log(line: string): void
}

export function describeStep(step: RestartStep): string {
  if ('version' in step) return 'The new version loads.'
  if ('front' in step) return `front ${step.front} → ${step.by}${finishing(step)}`
  const who = `worker ${step.worker}`
  return step.by === undefined ? `${who} is gone` : `${who} → ${step.by}`
}

function finishing({ front, finishing = 0 }: { front: string; finishing?: number }): string {
  if (finishing === 0) return ''
  return finishing === 1 ? `; 1 request finishes at ${front}` : `; ${finishing} requests finish at ${front}`
}

/** Returns a function that ends it. */
export function reloadOnChange({ cluster, watch, hangUp, log }: ReloadParts): () => void {
  let isRunning = false
  let next: RestartWhat | undefined

  /** A change during a restart leads to another one. */
  function reload(what: RestartWhat): void {
    next = next && !next.ifChanged ? next : what
    if (!isRunning) void run()
  }

  async function run(): Promise<void> {
    isRunning = true
    for (let what = next; what; what = next) {
      next = undefined
      try {
        for await (const step of cluster.restart(what)) log(`restart: ${describeStep(step)}`)
      } catch {
        // The cluster has logged why.
      }
      watching?.renew(cluster.watched())
    }
    isRunning = false
  }

  const all = { fronts: true, workers: true }
  const watching = watch ? watchFiles(() => reload({ ...all, ifChanged: true }), log) : undefined
  watching?.renew(cluster.watched())
  if (watching) log(`watch: ${describeFiles(cluster.watched())}`)
  const onSignal = () => (hangUp && !hasTerminal() ? hangUp() : reload(all))
  process.on('SIGHUP', onSignal)
  return () => {
    process.off('SIGHUP', onSignal)
    watching?.close()
  }
}

const shown = 5

/** Shows which files are noticed, and so which are not. */
function describeFiles(paths: readonly string[]): string {
  const names = paths.map((path) => relative('.', path) || '.')
  const more = names.length - shown
  return more > 0 ? `${names.slice(0, shown).join(', ')} and ${more} more` : names.join(', ')
}

/**
 * Replaces the workers and fronts that a cluster started, one at a time, without an error for any client. If the code
 * has changed since they started, they are replaced by processes with the new code.
 */

import type { RestartStep, RestartWhat } from '../admin/restart.ts'
import { causeStack } from '../lib/cause-stack.ts'
import { ConfigError } from '../lib/errors.ts'
import type { VersionChange } from './change-version.ts'
import { SpareFailed } from './fleet/spares.ts'
import { type RollParts, rollWorkers } from './roll-workers.ts'

export interface RestartParts extends RollParts {
  epoch: number
  /** Workers of the brain before, whose names must not repeat. */
  left?: readonly { launch: string }[] | undefined
  rollFronts(): AsyncGenerator<RestartStep>
  /** The version on disk, if that is another than the cluster serves. Rejects if it cannot be read. */
  newVersion(): Promise<VersionChange | undefined>
  log(line: string): void
}

/** Time allowed for the jobs of workloads that a new version lacks. */
const retireMs = 60_000

export function restarter(parts: RestartParts): (what: RestartWhat) => AsyncGenerator<RestartStep> {
  const { fleet } = parts
  let count = Math.max(0, ...(parts.left ?? []).map(({ launch }) => spareNumber(launch)))
  let busy = false
  /** The last version that was tried did not load. */
  let isRefused = false
  const nextName = () => `${parts.epoch}-r${++count}`

  const running = async () => new Set((await fleet.list()).map(({ launch }) => launch))

  async function* change(version: VersionChange): AsyncGenerator<RestartStep> {
    if (version.isTried) {
      const name = nextName()
      const trial = version.tryOut(name)
      try {
        await fleet.prepare(name, parts.bootMs, true)
        await trial.load()
      } catch (error) {
        fleet.drop()
        throw new RefusedVersion(error as Error)
      } finally {
        trial.end()
      }
    } else await version.load()
    version.begin()
    // Launches after this have the new code; one of them replaced once more does no harm, an old one left behind does.
    const stale = await running()
    fleet.release()
    yield { version: 'begins' }
    await version.retire(retireMs)
    if (version.isTried) yield* rollWorkers(parts, stale, nextName)
    version.serve()
    yield* parts.rollFronts()
    version.finish()
  }

  return async function* restart(what) {
    if (busy) throw new ConfigError('restart: another restart is in progress')
    busy = true
    try {
      const version = what.workers && what.fronts ? await parts.newVersion() : undefined
      if (!version && isRefused) parts.log('restart: the files are again those of the version that is served')
      isRefused = false
      if (version) return yield* change(version)
      if (what.ifChanged) return
      if (what.workers) yield* rollWorkers(parts, await running(), nextName)
      if (what.fronts) yield* parts.rollFronts()
    } catch (error) {
      isRefused = error instanceof RefusedVersion
      parts.log(`restart: ${error instanceof RefusedVersion ? error.short : (error as Error).message}`)
      throw error
    } finally {
      busy = false
    }
  }
}

/** 0: it was not a spare worker. */
function spareNumber(launch: string): number {
  return Number(/-r(\d+)$/.exec(launch)?.[1] ?? 0)
}

/** A new version that does not load. */
class RefusedVersion extends ConfigError {
  /** Its worker has logged its output already. */
  readonly short: string
  constructor(error: Error) {
    const output = error instanceof SpareFailed ? error.output : causeStack(error)
    const short = `the new version is refused, and nothing has changed: ${error.message}`
    super(output ? `${short}\n${output}` : short)
    this.short = error instanceof SpareFailed ? short : this.message
  }
}

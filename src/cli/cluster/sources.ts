/** Reads again what a running cluster is to serve: the modules of workloads, or the configuration of an existing server. */

import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import type { CheckedConfig, OwnCluster } from '../../config/check.ts'
import { ConfigError } from '../../lib/errors.ts'
import { readAgain, type Sources } from '../../live/version.ts'
import type { Preset } from '../../systems/preset.ts'
import { filesFrom } from './preset.ts'

export interface SourcesParts {
  /** As it was when the cluster started; undefined: none. */
  config: (CheckedConfig & { file: string }) | undefined
  log(line: string): void
}

export async function sourcesFrom(
  { workloads, data }: { workloads: string | undefined; data: string },
  preset: Preset,
  { config: first, log }: SourcesParts,
): Promise<Sources> {
  const file = first && resolve(first.file)
  const now = file === undefined ? undefined : await readAgain(file, resolve(data))
  if (first && now) {
    checkKind(first, now)
    for (const key of otherChanges(first, now))
      log(`restart: ${key} has changed in ${first.file}; this takes effect when up is started again`)
  }
  if (now?.own && file !== undefined) return { files: [], own: now.own, config: file }
  // A flag overrides the configuration.
  const isConfigured = workloads === first?.options.workloads
  const list = isConfigured ? now?.options.workloads : workloads
  return {
    files: filesFrom({ workloads: list }, preset),
    watched: [...(file === undefined ? [] : [file]), ...foldersIn(list)],
  }
}

/** New modules may appear in a folder. */
function foldersIn(list: string | undefined): string[] {
  const paths = (list ?? '').split(',').map((path) => resolve(path))
  return list === undefined ? [] : paths.filter((path) => statSync(path).isDirectory())
}

function checkKind({ own: before, file }: CheckedConfig & { file: string }, { own }: CheckedConfig): void {
  const [was, is] = [kindOf(before), kindOf(own)]
  if (was === is) return
  throw new ConfigError(`${file}: has ${is} in place of ${was}; this takes effect when up is started again`)
}

function kindOf(own: OwnCluster | undefined): string {
  if (!own) return 'workloads'
  return own.upstreams ? `upstreams ${own.upstreams.join(', ')}` : 'workers'
}

/** Options that a restart does not apply. */
function otherChanges({ options: before }: CheckedConfig, { options }: CheckedConfig): string[] {
  const [was, is] = [before, options] as Record<string, unknown>[]
  const keys = new Set([...Object.keys(was!), ...Object.keys(is!)])
  return [...keys].filter(
    (key) => key !== 'workloads' && JSON.stringify(was![key]) !== JSON.stringify(is![key]),
  )
}

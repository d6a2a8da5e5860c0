/** One version of what a cluster serves, kept aside so that its workers can be started from it at any time. */

import { existsSync } from 'node:fs'
import { dirname, join, sep } from 'node:path'
import type { CheckedConfig, OwnCluster } from '../config/check.ts'
import { loadConfig } from '../config/load.ts'
import { serverFiles } from '../config/server-files.ts'
import { keepCode } from '../workload/kept-code.ts'

/** What is to be served, as the user wrote it. */
export interface Sources {
  /** Modules of workloads; none for an existing server. */
  files: string[]
  /** An existing server, and its configuration file. */
  own?: OwnCluster
  config?: string
  /** Further files and folders whose change may make another version. */
  watched?: string[]
}

export interface Version extends Sources {
  /** Equal for equal code and configuration. */
  id: string
  /** The user's own files and folders: a change of one of them may make another version. */
  watched: string[]
}

/** A version that was kept, without what can be read again from its copy. */
export type KeptVersion = Pick<Version, 'id' | 'files' | 'config' | 'watched'>

/** Undefined: its copy is gone. */
export async function restoreVersion({ config, ...kept }: KeptVersion): Promise<Version | undefined> {
  if (![...kept.files, ...(config === undefined ? [] : [config])].every(existsSync)) return undefined
  if (config === undefined) return kept
  const { own } = await loadConfig(config)
  return { ...kept, config, ...(own && { own }) }
}

/** Its paths are those of the copy. */
export async function keepVersion(
  { files, own, config, watched = [] }: Sources,
  dataDir: string,
): Promise<Version> {
  const program = own?.workers
  // A folder of a server may contain the data folder.
  const isCode = (file: string) => !file.startsWith(join(dataDir, sep))
  const kept = await keepCode({
    files: [
      ...files,
      ...(config === undefined ? [] : [config]),
      ...(program ? serverFiles(program).filter(isCode) : []),
    ],
    ...(program && { folders: [program.cwd] }),
    dataDir,
  })
  return {
    id: kept.id,
    watched: [...kept.files, ...watched],
    files: files.map((file) => kept.pathOf(file)),
    ...(own && { own: program ? { ...own, workers: { ...program, kept: kept.root } } : own }),
    ...(config !== undefined && { config: kept.pathOf(config) }),
  }
}

/** Reads a configuration again; its module may have been loaded in an earlier version. */
export async function readAgain(config: string, dataDir: string): Promise<CheckedConfig> {
  const kept = await keepCode({ files: [config], folders: [dirname(config)], dataDir })
  return loadConfig(kept.pathOf(config))
}

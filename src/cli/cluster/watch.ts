/** Watches the files of a version, for `up --watch`. */

import { type FSWatcher, statSync, watch } from 'node:fs'
import { basename, dirname } from 'node:path'

export interface Watching {
  /** Watches these files and folders in place of the last ones. */
  renew(paths: readonly string[]): void
  close(): void
}

/** Editors write a file in several steps. */
const settleMs = 100
const isModule = (name: string) => /\.([cm]?[jt]s|json)$/.test(name)

/** Calls `changed` once no watched file has changed for 100 ms. */
export function watchFiles(changed: () => void, log: (line: string) => void): Watching {
  const watchers = new Map<string, FSWatcher>()
  /** By folder: the files watched in it. */
  let names = new Map<string, Set<string>>()
  let timer: NodeJS.Timeout | undefined

  function heard(folder: string, name: string | null): void {
    // A module may be imported that does not exist yet.
    if (name !== null && !isModule(name) && !names.get(folder)?.has(name)) return
    clearTimeout(timer)
    timer = setTimeout(changed, settleMs)
  }

  /** Folders are watched, because editors replace files. */
  function open(folder: string): void {
    try {
      const watcher = watch(folder, { persistent: false }, (_, name) => heard(folder, name))
      watcher.on('error', () => close(folder))
      watchers.set(folder, watcher)
    } catch (error) {
      log(`watch: ${folder} cannot be watched: ${(error as Error).message}`)
    }
  }

  function close(folder: string): void {
    watchers.get(folder)?.close()
    watchers.delete(folder)
  }

  return {
    renew(paths) {
      names = new Map()
      for (const path of paths) {
        const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory()
        const folder = isFolder ? path : dirname(path)
        const found = names.get(folder) ?? new Set()
        names.set(folder, isFolder ? found : found.add(basename(path)))
      }
      for (const folder of watchers.keys()) if (!names.has(folder)) close(folder)
      for (const folder of names.keys()) if (!watchers.has(folder)) open(folder)
    },
    close() {
      clearTimeout(timer)
      for (const folder of [...watchers.keys()]) close(folder)
    },
  }
}

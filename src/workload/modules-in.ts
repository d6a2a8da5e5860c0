/** Lists the modules of workloads in a folder. */

import { readdirSync } from 'node:fs'
import { join } from 'node:path'

/** Their paths, in order, without tests and declarations. */
export function modulesIn(folder: string): string[] {
  return readdirSync(folder)
    .filter((file) => /\.[cm]?[jt]s$/.test(file) && !/\.(test|d)\.[a-z]+$/.test(file))
    .sort()
    .map((file) => join(folder, file))
}

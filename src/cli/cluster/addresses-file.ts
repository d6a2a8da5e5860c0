/** Where the cluster of a data folder listens, so that commands on the same machine find it. */

import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { commonOptions } from '../../config/cluster-options.ts'
import { findConfig, loadConfig } from '../../config/load.ts'
import { isAlive } from '../../lib/alive.ts'
import { privateFile } from '../../lib/private-files.ts'

/** Addresses that this machine reaches. */
export interface Addresses {
  url: string
  admin: string
}

function fileIn(data: string): string {
  return join(data, 'addresses.json')
}

/** Returns a function that removes the file, unless another cluster has written it since. */
export function writeAddresses(data: string, { url, admin }: Addresses): () => void {
  const file = fileIn(data)
  writeFileSync(file, `${JSON.stringify({ url, admin, pid: process.pid })}\n`, { mode: privateFile })
  return () => {
    if (parsed(file)?.pid === process.pid) rmSync(file, { force: true })
  }
}

/** Undefined: no cluster that uses this data folder runs on this machine. */
export async function readAddresses(data: string | undefined): Promise<Addresses | undefined> {
  const found = parsed(fileIn(data ?? (await configuredData())))
  return found && isAlive(found.pid) ? found : undefined
}

function parsed(file: string): (Addresses & { pid: number }) | undefined {
  try {
    const { url, admin, pid } = JSON.parse(readFileSync(file, 'utf8'))
    const isSound = URL.canParse(url) && URL.canParse(admin) && Number.isInteger(pid) && pid > 0
    return isSound ? { url, admin, pid } : undefined
  } catch {
    return undefined
  }
}

/** The data folder of the configuration in this folder. */
export async function configuredData(): Promise<string> {
  const file = findConfig(process.cwd())
  const options = file === undefined ? {} : (await loadConfig(file)).options
  return options.data ?? commonOptions.data.default
}

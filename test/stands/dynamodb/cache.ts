/** What stands need is installed once into a cache outside the repository, in a folder named after its version. */

import { type SpawnOptions, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

/** Installs into a new folder, which is moved into place when it is complete. Throws if that fails. */
export function installOnce(name: string, install: (folder: string) => void): string {
  const root = process.env.PLIMSOLL_STANDS ?? join(homedir(), '.cache', 'plimsoll-stands')
  const folder = join(root, name)
  if (existsSync(folder)) return folder
  mkdirSync(root, { recursive: true })
  const making = mkdtempSync(`${folder}-`)
  try {
    install(making)
    if (!existsSync(folder)) renameSync(making, folder)
  } finally {
    rmSync(making, { recursive: true, force: true })
  }
  return folder
}

/** Throws with the end of its output if the command fails. */
export function run(command: string, args: readonly string[], options: Pick<SpawnOptions, 'cwd'> = {}): void {
  const { status, error, stdout, stderr } = spawnSync(command, args, { ...options, encoding: 'utf8' })
  if (error) throw new Error(`${command} cannot be started: ${error.message}`)
  if (status !== 0)
    throw new Error(`${command} ${args.join(' ')} failed:\n${`${stdout}${stderr}`.slice(-2_000)}`)
}

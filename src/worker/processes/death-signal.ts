import { spawnSync } from 'node:child_process'

let prefix: string[] | undefined

/** A command prefix with which the kernel kills a process when this one ends; empty where `setpriv` cannot do that. */
export function deathSignal(): string[] {
  if (prefix) return prefix
  const command = ['setpriv', '--pdeathsig', 'KILL']
  const { status, error } = spawnSync(command[0]!, [...command.slice(1), 'true'], { stdio: 'ignore' })
  const found = status === 0 ? command : []
  // A lack of descriptors or processes says nothing about `setpriv`, so the next call tries again.
  if (!error || (error as NodeJS.ErrnoException).code === 'ENOENT') prefix = found
  return found
}

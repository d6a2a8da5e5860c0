import { spawnSync } from 'node:child_process'

let prefix: string[] | undefined

/** A command prefix with which the kernel kills a process when this one ends; empty where `setpriv` cannot do that. */
export function deathSignal(): string[] {
  const command = ['setpriv', '--pdeathsig', 'KILL']
  prefix ??=
    spawnSync(command[0]!, [...command.slice(1), 'true'], { stdio: 'ignore' }).status === 0 ? command : []
  return prefix
}

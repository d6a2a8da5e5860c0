/** The script with which an instance starts its worker. */

import type { Ec2Settings } from './settings.ts'

/** All cores and most of the memory for one worker. An instance whose worker has ended is of no use, so it shuts down. */
export const usualUserData = `#!/bin/sh
# Worker of the Plimsoll cluster {cluster}, launch {launch}.
export HOME=/root PLIMSOLL_WORKER_TOKEN={token}
memory=$(awk '/MemTotal/ { print int($2 / 1024 * 0.8) }' /proc/meminfo)
plimsoll {worker} --cores "$(nproc)" --memory "$memory" --data /var/lib/plimsoll
shutdown -h now
`

/** AWS accepts no more, before it is encoded. */
export const mostUserData = 16_384

/** Placeholders that a script must contain. */
export const requiredPlaceholders = ['{worker}', '{token}'] as const

export function userData(
  { script = usualUserData, cluster, join, workerArgs }: Ec2Settings,
  { launch, token }: { launch: string; token: string },
): string {
  const args = ['worker', '--join', `tls://${join}`, '--launch', launch, ...workerArgs]
  const values: Readonly<Record<string, string>> = {
    worker: args.map(quoted).join(' '),
    token: quoted(token),
    launch,
    cluster,
  }
  return script.replace(/\{(worker|token|launch|cluster)\}/g, (_, name: string) => values[name]!)
}

/** For a shell. */
function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}

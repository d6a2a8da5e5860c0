/** The TCP ports on which processes listen, for messages about programs that use another port than assigned. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { attempt } from '../processes/proc.ts'

const listening = '0A'

/** Empty if the system does not provide the information. */
export function portsOf(pids: Iterable<number>): number[] {
  const own = new Set<string>()
  for (const pid of pids) {
    for (const fd of attempt(() => readdirSync(`/proc/${pid}/fd`)) ?? []) {
      const inode = /^socket:\[(\d+)\]$/.exec(attempt(() => readlinkSync(`/proc/${pid}/fd/${fd}`)) ?? '')
      if (inode) own.add(inode[1]!)
    }
  }
  const ports = ['/proc/net/tcp', '/proc/net/tcp6'].flatMap((file) => {
    const rows = (attempt(() => readFileSync(file, 'latin1')) ?? '').trim().split('\n').slice(1)
    return rows.flatMap((row) => {
      const [, local = '', , state, , , , , , inode = ''] = row.trim().split(/\s+/)
      return state === listening && own.has(inode) ? [Number.parseInt(local.split(':')[1]!, 16)] : []
    })
  })
  return [...new Set(ports)].sort((a, b) => a - b)
}

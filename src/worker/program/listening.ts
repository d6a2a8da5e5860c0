/** Which TCP ports processes listen on: to tell a user that a program chose another than it was given. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { attempt } from '../slots/proc.ts'

const listens = '0A'

/** Empty where the system does not say. */
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
      return state === listens && own.has(inode) ? [Number.parseInt(local.split(':')[1]!, 16)] : []
    })
  })
  return [...new Set(ports)].sort((a, b) => a - b)
}

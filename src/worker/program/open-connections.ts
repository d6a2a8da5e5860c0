/** Whether somebody is connected to a port of this machine, as the system's table of connections says. */
import { readFileSync } from 'node:fs'
import { attempt } from '../processes/proc.ts'

const established = '01'

/** False also if the system does not provide the information. */
export function hasConnections(port: number): boolean {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`
  return ['/proc/net/tcp', '/proc/net/tcp6'].some((file) => {
    const rows = (attempt(() => readFileSync(file, 'latin1')) ?? '').split('\n')
    return rows.some((row) => {
      const [, local = '', , state] = row.trim().split(/\s+/)
      return state === established && local.endsWith(suffix)
    })
  })
}

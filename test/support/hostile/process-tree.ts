/** What the processes of a cluster are and use, from /proc. Linux only. */

import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { allProcesses, descendants, type ProcessInfo } from '../processes.ts'

export type Role = 'main' | 'brain' | 'front' | 'keeper' | 'worker' | 'slot' | 'other'

/** A process and all its descendants. */
export function family(root: number): ProcessInfo[] {
  const all = allProcesses().filter(({ pid, state }) => pid === root && state !== 'Z')
  return [...all, ...descendants(root)]
}

export function roleOf({ pid, command }: ProcessInfo, main: number): Role {
  if (pid === main) return 'main'
  if (/slot-start/.test(command)) return 'slot'
  const [, word] = /plimsoll\.js (worker|front|brain|keeper|function)\b/.exec(command) ?? []
  return word === undefined || word === 'function' ? 'other' : (word as Role)
}

/** The processes of a family that hold the listening socket of a port. */
export function listenersOn(root: number, port: number): ProcessInfo[] {
  const hex = port.toString(16).toUpperCase().padStart(4, '0')
  const sockets = new Set(
    ['tcp', 'tcp6'].flatMap((name) =>
      read(`/proc/net/${name}`)
        .split('\n')
        .map((line) => line.trim().split(/\s+/))
        .filter((fields) => fields[1]?.endsWith(`:${hex}`) && fields[3] === '0A')
        .map((fields) => `socket:[${fields[9]}]`),
    ),
  )
  return family(root).filter(({ pid }) => openFiles(pid).some((file) => sockets.has(file)))
}

/** What the descriptors of a process refer to. */
export function openFiles(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
      try {
        return [readlinkSync(`/proc/${pid}/fd/${fd}`)]
      } catch {
        return []
      }
    })
  } catch {
    return []
  }
}

/** Resident memory; 0 if the process has ended. */
export function rssMbOf(pid: number): number {
  const pages = Number(read(`/proc/${pid}/statm`).split(' ')[1] ?? 0)
  return (pages * 4096) / 2 ** 20
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

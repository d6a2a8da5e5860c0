/** CPU time of the processes of a system while a load runs, by what they are for. */
import { readFileSync } from 'node:fs'
import { familyOf } from '../../src/worker/processes/family.ts'
import { attempt, cpuMs, readProc, statFields, tickMs } from '../../src/worker/processes/proc.ts'
import { upstream } from '../own/started.ts'

export interface Used {
  cpuMs: number
  /** The part of it that the kernel used. */
  systemMs: number
}

/** `server`: the upstream, whose time is not the proxy's. */
export type Role = 'supervisor' | 'front' | 'brain' | 'worker' | 'slot' | 'proxy' | 'server'

const sampleMs = 400

/** What a process is for, by its command line. */
export function roleOf(pid: number): Role {
  const words = (attempt(() => readProc(pid, 'cmdline')) ?? '').split('\0')
  if (words.includes(upstream)) return 'server'
  if (words.some((word) => word.includes('/slot-start.'))) return 'slot'
  if (words.includes('--supervised')) return 'brain'
  const entry = words.findIndex((word) => word.endsWith('/plimsoll.js'))
  const command = entry < 0 ? undefined : words[entry + 1]
  if (command === 'front' || command === 'worker') return command
  return command === 'up' ? 'supervisor' : 'proxy'
}

/** The processes of the proxy, with their roles. */
export function processesOf(pid: number): Map<number, Role> {
  const roles = [...familyOf([pid])].map((each) => [each, roleOf(each)] as const)
  return new Map(roles.filter(([, role]) => role !== 'server'))
}

interface Times {
  cpuMs: number
  userTicks: number
  systemTicks: number
}

/** Follows processes until `stop`, also processes that start or end in between. */
export class ProcessTimes {
  readonly #pids: readonly number[]
  readonly #first = new Map<number, Times>()
  readonly #last = new Map<number, Times>()
  readonly #roles = new Map<number, Role>()
  readonly #timer: NodeJS.Timeout

  /** Of these processes and their descendants. */
  constructor(pids: readonly number[]) {
    this.#pids = pids
    this.#sample()
    for (const [each, times] of this.#last) this.#first.set(each, times)
    this.#timer = setInterval(() => this.#sample(), sampleMs)
  }

  stop(): Map<Role, Used> {
    clearInterval(this.#timer)
    this.#sample()
    const used = new Map<Role, Used>()
    for (const [pid, last] of this.#last) {
      const first = this.#first.get(pid) ?? { cpuMs: 0, userTicks: 0, systemTicks: 0 }
      const role = this.#roles.get(pid)!
      const sum = used.get(role) ?? { cpuMs: 0, systemMs: 0 }
      const ms = last.cpuMs - first.cpuMs
      const system = last.systemTicks - first.systemTicks
      const ticks = system + last.userTicks - first.userTicks
      sum.cpuMs += ms
      // Ticks are coarse, so they only say how the exact time is divided.
      sum.systemMs += ticks > 0 ? (ms * system) / ticks : 0
      used.set(role, sum)
    }
    return used
  }

  #sample(): void {
    for (const pid of familyOf(this.#pids)) {
      const [ms, fields] = [cpuMs(pid), statFields(pid)]
      if (ms === undefined || !fields) continue
      this.#last.set(pid, { cpuMs: ms, userTicks: Number(fields[11]), systemTicks: Number(fields[12]) })
      // A process that has just been forked still has its parent's command line.
      this.#roles.set(pid, roleOf(pid))
    }
  }
}

/** CPU time that all processes of the machine have used. */
export function machineCpuMs(): number {
  const all = readFileSync('/proc/stat', 'latin1').split('\n')[0]!.split(/\s+/).slice(1).map(Number)
  const [user, nice, system, , , irq, softirq] = all
  return (user! + nice! + system! + irq! + softirq!) * tickMs
}

/** CPU time of this process and of its children that have ended. */
export function benchCpuMs(): number {
  const fields = statFields(process.pid)!
  return [11, 12, 13, 14].reduce((sum, field) => sum + Number(fields[field]), 0) * tickMs
}

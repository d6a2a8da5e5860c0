/** The members of a process group and their descendants, their memory and their CPU time, from /proc. */
import { readdirSync } from 'node:fs'
import { familyOf, hasRunnableThread, isStopped } from '../processes/family.ts'
import { attempt, demandMs, residentMb, statFields, tickMs } from '../processes/proc.ts'
import { CpuAccount, type CpuGroup, ThreadLifetimes } from './cpu-account.ts'
import { CpuReader, LastReading } from './cpu-reading.ts'

/** Finding children is half of the cost, so the result is reused for this time. */
const freshMs = 10

const hasProc = statFields(process.pid) !== undefined

export class GroupUsage implements CpuGroup {
  readonly #leader: number
  readonly threads = new ThreadLifetimes()
  readonly reader = new CpuReader()
  readonly lastReading = new LastReading()
  /** Members that may not be descendants of the leader, because their parents ended. */
  #detached: number[] = []
  #known: ReadonlySet<number> = new Set()
  #knownAt = -Infinity

  constructor(leader: number) {
    this.#leader = leader
  }

  /** Scans all processes of the system. Expensive, so called only once, when a program has become healthy. */
  findDetached(): void {
    const pids = (attempt(() => readdirSync('/proc')) ?? []).map(Number)
    this.#detached = pids.filter((pid) => pid > 0 && Number(statFields(pid)?.[2]) === this.#leader)
  }

  members(): ReadonlySet<number> {
    const now = performance.now()
    if (now - this.#knownAt < freshMs) return this.#known
    this.#knownAt = now
    this.#known = familyOf([this.#leader, ...this.#detached])
    return this.#known
  }

  /** Counts memory that members share once, as far as the system reports it. */
  memoryMb(): number | undefined {
    let ownMb = 0
    let maxSharedMb = 0
    for (const pid of this.members()) {
      const { allMb, sharedMb } = residentMb(pid) ?? { allMb: 0, sharedMb: 0 }
      ownMb += allMb - sharedMb
      maxSharedMb = Math.max(maxSharedMb, sharedMb)
    }
    return ownMb + maxSharedMb || undefined
  }

  /**
   * Time that its threads, and processes that have ended, spent on a core or in the queue for one. Undefined: the system
   * does not report it.
   */
  demandMs(): number | undefined {
    let known: number | undefined
    for (const pid of this.members()) {
      const ms = demandMs(pid)
      if (ms !== undefined) known = (known ?? 0) + ms + waitedMs(pid)
    }
    return known
  }

  isRunnable(): boolean {
    return [...this.members()].some((pid) => hasRunnableThread(pid) || isStopped(pid))
  }

  /** The processes have ended. */
  close(): void {
    this.reader.close()
  }

  /** Counts CPU time from now on. Undefined without /proc. */
  account(): CpuAccount | undefined {
    return hasProc ? new CpuAccount(this) : undefined
  }
}

/** CPU time of processes that it started and that have ended. */
function waitedMs(pid: number): number {
  const fields = statFields(pid)
  return fields ? (Number(fields[13]) + Number(fields[14])) * tickMs : 0
}

/** Whether a process is exiting or has exited. True from just before its sockets close. */
export function isEnding(pid: number): boolean {
  const fields = statFields(pid)
  const exiting = 4
  return !fields || fields[0] === 'Z' || fields[0] === 'X' || (Number(fields[6]) & exiting) !== 0
}

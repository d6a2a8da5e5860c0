/** CPU time and children of processes, read from /proc; nothing where there is none. */
import { readFileSync } from 'node:fs'

const tickMs = 10
const lookMs = 500

/** Of all threads of these processes, those of their children not included. A process that is gone counts as nothing. */
export function cpuMsOf(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + ticksOf(`/proc/${pid}/stat`, parseProcess) * tickMs, 0)
}

/** Watches what these processes start, until `stop` is called, which counts them and the CPU time they used meanwhile. */
export function watchChildren(pids: readonly number[]): { stop(): { count: number; cpuMs: number } } {
  const startedWith = new Map(childrenOf(pids).map((pid) => [pid, cpuMsOf([pid])]))
  const last = new Map(startedWith)
  const look = () => {
    for (const pid of childrenOf(pids)) last.set(pid, cpuMsOf([pid]))
  }
  const timer = setInterval(look, lookMs)
  return {
    stop() {
      clearInterval(timer)
      look()
      let cpuMs = 0
      for (const [pid, ms] of last) cpuMs += ms - (startedWith.get(pid) ?? 0)
      return { count: last.size, cpuMs }
    },
  }
}

function childrenOf(pids: readonly number[]): number[] {
  return pids.flatMap((pid) => {
    const text = textOf(`/proc/${pid}/task/${pid}/children`).trim()
    return text === '' ? [] : text.split(' ').map(Number)
  })
}

/** Of the whole machine, since it was started. */
export function machineCpuMs(): number {
  return ticksOf('/proc/stat', parseMachine) * tickMs
}

function ticksOf(file: string, parse: (text: string) => number): number {
  const text = textOf(file)
  return text === '' ? 0 : parse(text)
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'latin1')
  } catch {
    return ''
  }
}

/** The name in parentheses may hold spaces; the 12th and 13th field after it are user and system time. */
function parseProcess(text: string): number {
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return Number(fields[11]) + Number(fields[12])
}

/** User, nice, system; then idle and waiting; then interrupts. */
function parseMachine(text: string): number {
  const [, user, nice, system, , , irq, softIrq] = text.split('\n', 1)[0]!.split(/\s+/).map(Number)
  return user! + nice! + system! + irq! + softIrq!
}

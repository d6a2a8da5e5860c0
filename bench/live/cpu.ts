/** CPU time and children of processes, read from /proc; 0 and none on systems without it. */
import { readFileSync } from 'node:fs'

const tickMs = 10
const lookMs = 500

/** Of all threads of these processes, without their children. A process that has ended counts as 0. */
export function cpuMsOf(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + ticksOf(`/proc/${pid}/stat`, parseProcess) * tickMs, 0)
}

/** Watches the children of these processes. `stop` returns their number and the CPU time they used since. */
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

/** Of the whole machine, since its start. */
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

/** The name in parentheses may contain spaces; the 12th and 13th fields after it are user and system time. */
function parseProcess(text: string): number {
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return Number(fields[11]) + Number(fields[12])
}

/** Fields: user, nice, system, idle, iowait, then interrupts. */
function parseMachine(text: string): number {
  const [, user, nice, system, , , irq, softIrq] = text.split('\n', 1)[0]!.split(/\s+/).map(Number)
  return user! + nice! + system! + irq! + softIrq!
}

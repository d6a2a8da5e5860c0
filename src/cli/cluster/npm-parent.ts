/**
 * Notices the death of the npm that started this process (`npx plimsoll up`, `npm start`). npm passes SIGTERM only to the shell
 * between them, which dies of it, and dies of SIGHUP and SIGKILL alone: without this the cluster would stay behind.
 */

import { readFileSync } from 'node:fs'

export interface ProcessFacts {
  parent: number
  command: string
  ignoresHangUp: boolean
}

/** Undefined: there is no such process. */
export type ReadProcess = (pid: number) => ProcessFacts | undefined

/** What is to die together with this process. */
export interface NpmParent {
  shell: number
  npm: number
}

const everyMs = 1_000
/** The script starts this process in the background, where it outlives npm on purpose. */
const background = /(^|[^&>])&([^&>]|$)|\b(nohup|setsid|disown)\b/

/**
 * Undefined: npm did not start this process, or it is meant to outlive npm. `nohup npx …` is: npm dies when the terminal is closed,
 * because Node no longer ignores the signal, but the shell goes on.
 */
export function npmParent(
  parent: number,
  script: string | undefined,
  read: ReadProcess,
): NpmParent | undefined {
  if (script === undefined || background.test(script)) return undefined
  const shell = read(parent)
  if (!shell || shell.ignoresHangUp) return undefined
  const npm = read(shell.parent)
  return npm && /^npm\b/.test(npm.command) ? { shell: parent, npm: shell.parent } : undefined
}

/** `parent`: the present parent of this process, which changes when the shell dies. */
export function hasEnded({ shell, npm }: NpmParent, parent: number, read: ReadProcess): boolean {
  return parent !== shell || read(shell)?.parent !== npm
}

/** Calls back once when npm has ended. Returns a function that ends the watch. Without `/proc` nothing is noticed. */
export function watchNpm(ended: () => void): () => void {
  const npm = npmParent(process.ppid, process.env.npm_lifecycle_script, readProcess)
  if (!npm) return () => {}
  const timer = setInterval(() => {
    if (!hasEnded(npm, process.ppid, readProcess)) return
    clearInterval(timer)
    ended()
  }, everyMs).unref()
  return () => clearInterval(timer)
}

/** Bit of SIGHUP, the first signal, in the masks of `/proc`. */
const hangUpBit = 1n

function readProcess(pid: number): ProcessFacts | undefined {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'latin1')
    const [, parent] = /^PPid:\s+(\d+)$/m.exec(status)!
    const [, ignored] = /^SigIgn:\s+([0-9a-f]+)$/m.exec(status)!
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim()
    return { parent: Number(parent), command, ignoresHangUp: (BigInt(`0x${ignored}`) & hangUpBit) !== 0n }
  } catch {
    return undefined
  }
}

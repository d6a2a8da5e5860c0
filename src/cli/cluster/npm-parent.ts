/**
 * Notices the death of the npm that started this process (`npx plimsoll up`, `npm start`). npm passes SIGTERM only to the shell
 * between them, which dies of it, and dies of SIGHUP and SIGKILL alone: without this the cluster would stay behind.
 */

import { readFileSync } from 'node:fs'

export interface ProcessFacts {
  parent: number
  command: string
}

/** Undefined: there is no such process. */
export type ReadProcess = (pid: number) => ProcessFacts | undefined

/** Processes that must live on: npm, and the shell between it and this process, unless the shell has become this process. */
export interface NpmParent {
  shell?: number
  npm: number
}

export interface NpmWatch {
  /** This process got a SIGHUP. Who handles it decides for npm's death by the same signal too. */
  hangUp(): void
  end(): void
}

const everyMs = 1_000
/** A hang-up reaches npm and this process together. */
const togetherMs = 5_000
/** The script starts this process in the background, where it outlives npm on purpose. */
const background = /(^|[^&>])&([^&>]|$)|\b(nohup|setsid|disown)\b/

/** Undefined: npm did not start this process, or it is meant to outlive npm. */
export function npmParent(
  parent: number,
  script: string | undefined,
  read: ReadProcess,
): NpmParent | undefined {
  if (script === undefined || background.test(script)) return undefined
  const isNpm = (found: ProcessFacts | undefined) => found !== undefined && /^npm\b/.test(found.command)
  const shell = read(parent)
  if (isNpm(shell)) return { npm: parent }
  return shell && isNpm(read(shell.parent)) ? { shell: parent, npm: shell.parent } : undefined
}

/** `parent`: the present parent of this process. The parent of a process changes when it dies. */
export function hasEnded({ shell, npm }: NpmParent, parent: number, read: ReadProcess): boolean {
  if (shell === undefined) return parent !== npm
  return parent !== shell || read(shell)?.parent !== npm
}

/** Calls back once when npm has ended. Without `/proc` nothing is noticed. */
export function watchNpm(ended: () => void): NpmWatch {
  const npm = npmParent(process.ppid, process.env.npm_lifecycle_script, readProcess)
  if (!npm) return { hangUp() {}, end() {} }
  let hungUpAt = -Infinity
  const timer = setInterval(() => {
    if (!hasEnded(npm, process.ppid, readProcess)) return
    clearInterval(timer)
    if (performance.now() - hungUpAt > togetherMs) ended()
  }, everyMs).unref()
  return {
    hangUp() {
      hungUpAt = performance.now()
    },
    end: () => clearInterval(timer),
  }
}

function readProcess(pid: number): ProcessFacts | undefined {
  try {
    const [, parent] = /^PPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))!
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim()
    return { parent: Number(parent), command }
  } catch {
    return undefined
  }
}

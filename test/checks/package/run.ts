/** Runs programs as a user of the package would: in a folder of their own, with a given Node first on the PATH. */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { delimiter, dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

export interface Ended {
  code: number | null
  stdout: string
  stderr: string
}

export interface Place {
  cwd: string
  /** Path of the `node` that scripts and npx find. */
  node: string
}

/** Groups of processes that still run, so that an interrupted check can end them. */
const groups = new Set<number>()

export function killGroups(): void {
  for (const pid of groups) signalGroup(pid, 'SIGKILL')
}

function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal)
  } catch {
    // The group has ended.
  }
}

/** The environment without what `npm run` and the test runner added to it. */
function environment(node: string): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(
    ([name]) =>
      !/^(npm_(?!config_(cache|registry|userconfig)$)|NODE_(OPTIONS|COMPILE_CACHE|TEST_CONTEXT)$|FORCE_COLOR|INIT_CWD|PLIMSOLL_)/i.test(
        name,
      ),
  )
  const { PATH = '', ...others } = Object.fromEntries(kept)
  const folders = PATH.split(delimiter).filter((folder) => !folder.includes('node_modules'))
  return { ...others, PATH: [dirname(node), ...folders].join(delimiter), NO_COLOR: '1' }
}

export class Running {
  readonly process: ChildProcess
  stdout = ''
  stderr = ''
  readonly ended: Promise<Ended>

  /** In a process group of its own, as in a terminal. */
  constructor({ cwd, node }: Place, [program, ...args]: readonly [string, ...string[]]) {
    const child = spawn(program, args, { cwd, env: environment(node), stdio: 'pipe', detached: true })
    child.stdin.end()
    child.stdout.on('data', (chunk) => {
      this.stdout += chunk
    })
    child.stderr.on('data', (chunk) => {
      this.stderr += chunk
    })
    this.process = child
    if (child.pid !== undefined) groups.add(child.pid)
    this.ended = once(child, 'close').then(([code]) => {
      groups.delete(child.pid!)
      return { code, stdout: this.stdout, stderr: this.stderr }
    })
  }

  /** Ends it as Ctrl-C does. */
  interrupt(): void {
    signalGroup(this.process.pid!, 'SIGINT')
  }

  kill(): void {
    signalGroup(this.process.pid!, 'SIGKILL')
  }

  /** Waits until its output matches. */
  async said(pattern: RegExp, withinMs: number): Promise<RegExpMatchArray> {
    const until = Date.now() + withinMs
    for (;;) {
      const match = this.stdout.match(pattern)
      if (match) return match
      if (this.process.exitCode !== null || Date.now() > until) {
        throw new Error(`${pattern} was not printed:\n${this.stdout}${this.stderr}`)
      }
      await sleep(50)
    }
  }
}

/** Rejects unless the program exits with the expected code. */
export async function run(
  place: Place,
  command: readonly [string, ...string[]],
  expectedCode = 0,
): Promise<Ended> {
  const ended = await new Running(place, command).ended
  if (ended.code === expectedCode) return ended
  throw new Error(`${command.join(' ')}: exit code ${ended.code}\n${ended.stdout}${ended.stderr}`)
}

/** npm, with output that is meant for programs. */
export const npm = (...args: string[]) =>
  ['npm', ...args, '--no-audit', '--no-fund', '--loglevel=error'] as const

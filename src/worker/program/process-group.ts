/** A program's process, which leads a process group, and the means to control the group. */
import type { ChildProcess } from 'node:child_process'
import { deathSignal } from '../processes/death-signal.ts'
import { lowerPriority } from '../processes/proc.ts'
import { killFamily, signalGroup } from '../processes/signal-group.ts'
import { startProcess } from '../processes/start-process.ts'
import { ProgramOutput } from './program-output.ts'

export interface Exit {
  /** For instance "exited with code 1". */
  how: string
  /** By a SIGKILL that this worker did not send. */
  killed: boolean
}

export interface GroupCommand {
  command: readonly string[]
  env: NodeJS.ProcessEnv
  cwd?: string | undefined
  niceness: number
  /** The clock by which lines of its output are dated, in milliseconds. */
  now(): number
}

/** Maximum wait for output after the process ended: a process that left the group may keep the pipes open. */
const drainMs = 500

export class ProcessGroup {
  readonly ended: Promise<Exit>
  readonly #process: ChildProcess
  readonly #output: ProgramOutput
  exited = false
  #killed = false
  #stopped = false
  #force: NodeJS.Timeout | undefined

  constructor({ command, env, cwd, niceness, now }: GroupCommand, print: (line: string) => void) {
    this.#process = startProcess([...deathSignal(), ...command], {
      stdio: ['ignore', 'pipe', 'pipe'],
      // A process group of its own: signals also reach its child processes, and Ctrl-C does not reach it.
      detached: true,
      env,
      ...(cwd !== undefined && { cwd }),
    })
    this.#output = new ProgramOutput(print, now)
    // If no file descriptors are available, there are no pipes; an error event follows.
    const [, stdout, stderr] = this.#process.stdio ?? []
    for (const stream of [stdout, stderr]) if (stream && 'read' in stream) this.#output.read(stream)
    this.ended = this.#exit()
    if (this.pid !== undefined) lowerPriority(this.pid, niceness)
  }

  get pid(): number | undefined {
    return this.#process.pid
  }

  get lastLine(): { lastLine: string; lastLineAgeMs: number } {
    return this.#output.lastLine
  }

  /** Idempotent. */
  stop(): void {
    if (this.#stopped) return
    this.#stopped = true
    this.#signal('SIGSTOP')
  }

  resume(): void {
    if (!this.#stopped) return
    this.#stopped = false
    this.#signal('SIGCONT')
  }

  /** `ended` resolves when the process has exited. */
  kill(): void {
    this.#killed = true
    if (!this.exited) killFamily(this.#process)
  }

  /** Sends SIGTERM, and SIGKILL after the grace period. */
  end(graceMs: number): void {
    if (this.#force || this.#killed) return
    this.#signal('SIGTERM')
    this.resume()
    this.#force = setTimeout(() => this.kill(), graceMs)
  }

  #signal(signal: NodeJS.Signals): void {
    if (!this.exited) signalGroup(this.#process, signal)
  }

  async #exit(): Promise<Exit> {
    const exit = await new Promise<Exit>((resolve) => {
      this.#process.on('error', ({ message }) => {
        // The error may also be that of a signal; then the process is alive.
        if (this.pid === undefined) resolve({ how: `could not be started: ${message}`, killed: false })
      })
      this.#process.once('exit', (code, signal) => {
        // Kills the child processes; this also closes the pipes that they inherited.
        this.#signal('SIGKILL')
        this.exited = true
        const how = signal ? `was ended by ${signal}` : `exited with code ${code}`
        const killed = signal === 'SIGKILL' && !this.#killed
        this.#process.once('close', () => resolve({ how, killed }))
        // Output that has already arrived is read first.
        setTimeout(() => setImmediate(resolve, { how, killed }), drainMs).unref()
      })
    })
    this.exited = true
    clearTimeout(this.#force)
    this.#process.stdout?.destroy()
    this.#process.stderr?.destroy()
    this.#output.close()
    return exit
  }
}

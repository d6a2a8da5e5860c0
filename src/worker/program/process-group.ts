/** A process of the user's that leads a group of its own, and all that can be done to the group. */
import { type ChildProcess, spawn } from 'node:child_process'
import { deathSignal } from '../slots/guard.ts'
import { giveWay } from '../slots/proc.ts'
import { ProgramOutput } from './program-output.ts'

export interface Exit {
  /** For instance "exited with code 1". */
  how: string
  /** By SIGKILL, and not by us: something from outside did it. */
  killed: boolean
}

export interface GroupCommand {
  command: readonly string[]
  env: NodeJS.ProcessEnv
  cwd?: string | undefined
}

/** How long output may still come after the process ended: one that left the group may hold the pipes open. */
const drainMs = 500

export class ProcessGroup {
  readonly gone: Promise<Exit>
  readonly #process: ChildProcess
  readonly #output: ProgramOutput
  exited = false
  #killed = false
  #stopped = false
  #force: NodeJS.Timeout | undefined

  constructor({ command, env, cwd }: GroupCommand, print: (line: string) => void) {
    const [program, ...args] = [...deathSignal(), ...command]
    this.#process = spawn(program!, args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      // Leads a group: signals reach what it starts too, and a terminal's do not reach it.
      detached: true,
      env,
      ...(cwd !== undefined && { cwd }),
    })
    this.#output = new ProgramOutput(print)
    // Without file descriptors to spare there are no pipes either; an error event follows.
    const [, stdout, stderr] = this.#process.stdio ?? []
    for (const stream of [stdout, stderr]) if (stream && 'read' in stream) this.#output.read(stream)
    this.gone = this.#ended()
    if (this.pid !== undefined) giveWay(this.pid)
  }

  get pid(): number | undefined {
    return this.#process.pid
  }

  /** What it printed last. */
  get lastLine(): string {
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

  /** `gone` tells when it has taken effect. */
  kill(): void {
    this.#killed = true
    this.#signal('SIGKILL')
  }

  /** Lets it end by itself, but not for long. */
  end(graceMs: number): void {
    if (this.#force || this.#killed) return
    this.#signal('SIGTERM')
    this.resume()
    this.#force = setTimeout(() => this.kill(), graceMs)
  }

  #signal(signal: NodeJS.Signals): void {
    if (this.pid === undefined || this.exited) return
    try {
      process.kill(-this.pid, signal)
    } catch {
      this.#process.kill(signal)
    }
  }

  async #ended(): Promise<Exit> {
    const exit = await new Promise<Exit>((resolve) => {
      this.#process.once('error', ({ message }) => {
        // Also of a signal that could not be sent: then it lives.
        if (this.pid === undefined) resolve({ how: `could not be started: ${message}`, killed: false })
      })
      this.#process.once('exit', (code, signal) => {
        // What it started goes with it; this also closes the pipes that were inherited.
        this.#signal('SIGKILL')
        this.exited = true
        const how = signal ? `was ended by ${signal}` : `exited with code ${code}`
        const killed = signal === 'SIGKILL' && !this.#killed
        this.#process.once('close', () => resolve({ how, killed }))
        // After a turn in which what is there already can be read.
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

/** `plimsoll up` in a process tree of its own, with a temporary data folder and free ports. */

import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { cli } from '../live.ts'
import { allProcesses, type ProcessInfo } from '../processes.ts'
import { family, listenersOn, roleOf } from './process-tree.ts'

export interface UpOptions {
  /** Flags of `up`. */
  flags?: readonly string[]
  env?: NodeJS.ProcessEnv | ((folder: string) => NodeJS.ProcessEnv)
  /** A command that ends by running its arguments, such as `prlimit --nofile=100`. */
  through?: readonly string[]
  /** Puts files into its folder before it starts. */
  prepare?: (folder: string) => void
  /** An existing server in place of workloads. */
  server?: ServerOptions
}

export interface ServerOptions {
  concurrency?: number
  /** True: it records the bytes of each connection in a file of the folder `bytes`. */
  recordsBytes?: boolean
}

export interface State {
  ready: number
  jobs: number
  workers: {
    id: string
    pid?: number
    state: string
    suspect?: boolean
    usedMemoryMb: number
    jobs: unknown[]
  }[]
  /** Of the main process; each front has its own, once it has reported. */
  overload: { step: number }
  fronts: { id: string; pid: number; state: string; inHand: number; overload?: { step: number } }[]
  steps: { change: string; names: string[]; text: string }[]
  waiting: unknown[]
  placed: number
  counters: Record<string, number>
}

const startMs = 60_000
const workloads = join(import.meta.dirname, 'workloads.ts')
const program = join(import.meta.dirname, 'server.mjs')

export class Up {
  readonly folder: string
  readonly process: ChildProcess
  readonly lines: string[] = []
  url = ''
  adminUrl = ''
  /** Workers that an experiment killed. */
  readonly killedWorkers = new Set<string>()
  /** True: an experiment kills the brain. */
  killsBrain = false
  #stopping = false
  #ended = Promise.withResolvers<void>()

  constructor(folder: string, child: ChildProcess) {
    this.folder = folder
    this.process = child
    for (const output of [child.stdout!, child.stderr!])
      createInterface({ input: output }).on('line', (line) => this.#say(line))
    child.once('exit', () => this.#ended.resolve())
  }

  get dataDir(): string {
    return join(this.folder, '.plimsoll')
  }

  get pid(): number {
    return this.process.pid!
  }

  /** True: the main process has ended by itself. */
  get isDead(): boolean {
    return !this.#stopping && (this.process.exitCode !== null || this.process.signalCode !== null)
  }

  /** True: an experiment has stopped it. */
  get isStopped(): boolean {
    return this.#stopping
  }

  get port(): number {
    return Number(new URL(this.url).port)
  }

  async state(): Promise<State> {
    const answer = await fetch(`${this.adminUrl}/api/state`, { signal: AbortSignal.timeout(20_000) })
    return (await answer.json()) as State
  }

  processes(): ProcessInfo[] {
    return family(this.pid)
  }

  workers(): ProcessInfo[] {
    return this.processes().filter((process) => roleOf(process, this.pid) === 'worker')
  }

  fronts(): ProcessInfo[] {
    return this.processes().filter((process) => roleOf(process, this.pid) === 'front')
  }

  keeper(): ProcessInfo | undefined {
    return this.processes().find(({ command }) => /plimsoll\.js keeper ?$/.test(command))
  }

  /** The process that decides: it listens on the admin port. A supervisor may hold the socket too. */
  brain(): ProcessInfo | undefined {
    const holders = listenersOn(this.pid, Number(new URL(this.adminUrl).port))
    return holders.find(({ pid }) => pid !== this.pid) ?? holders[0]
  }

  /** Ids that the tally of unrepeatable work lists, in order. */
  tallied(): string[] {
    const file = join(this.dataDir, 'tally')
    return existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : []
  }

  /** What a worker or front must be given to join. */
  joinFlags(role: 'worker' | 'front'): string[] {
    const file = join(this.dataDir, 'tokens', role)
    if (existsSync(file)) return ['--join', this.adminUrl, '--token-file', file]
    const [, token = ''] = /--token (\S+)/.exec(this.lines.join('\n')) ?? []
    return ['--join', this.adminUrl, '--token', token]
  }

  /** Runs another command of `plimsoll` in the same folder. */
  command(...words: string[]): ChildProcess {
    return spawn(process.execPath, [cli, ...words], { cwd: this.folder, stdio: ['ignore', 'pipe', 'pipe'] })
  }

  /** Resolves when the process has ended, at most after a while; then everything of it is killed. */
  async stop(ms = 20_000): Promise<ProcessInfo[]> {
    if (this.#stopping) return []
    this.#stopping = true
    this.process.kill('SIGCONT')
    this.process.kill('SIGTERM')
    await Promise.race([this.#ended.promise, delay(ms, undefined, { ref: false })])
    const before = this.processes()
    this.process.kill('SIGKILL')
    await this.#ended.promise
    // Children notice the end of their parent at once, or with its next heartbeat.
    const left = () =>
      allProcesses().filter((each) => each.state !== 'Z' && each.command.includes(this.folder))
    for (let i = 0; i < 50 && left().length > 0; i++) await delay(100)
    const remaining = left()
    for (const { pid } of [...before, ...remaining]) kill(pid)
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 })
    return remaining
  }

  #say(line: string): void {
    this.lines.push(line)
    const [, key, url] = /^ {2}(requests|admin) +(https?:\/\/[^/\s]+)/.exec(line) ?? []
    if (key === 'requests') this.url = url!
    if (key === 'admin') this.adminUrl = url!
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended.
  }
}

/** Resolves when the cluster serves requests. */
export async function startUp({
  flags = [],
  env = {},
  through = [],
  prepare,
  server,
}: UpOptions = {}): Promise<Up> {
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-hostile-'))
  mkdirSync(join(folder, 'tmp'))
  prepare?.(folder)
  const size = flags.includes('--max') ? [] : ['--min', '1', '--max', '1']
  const serves = server ? [] : ['--workloads', workloads]
  if (server)
    writeFileSync(join(folder, 'plimsoll.config.json'), JSON.stringify(serverConfig(folder, server)))
  const words = [
    process.execPath,
    cli,
    'up',
    '--port',
    '0',
    '--admin-port',
    '0',
    ...size,
    ...serves,
    ...flags,
  ]
  const [command, ...args] = [...through, ...words] as [string, ...string[]]
  const child = spawn(command, args, {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, TMPDIR: join(folder, 'tmp'), ...(typeof env === 'function' ? env(folder) : env) },
  })
  const up = new Up(folder, child)
  const ends = performance.now() + startMs
  while (!up.lines.some((line) => line.includes('Ctrl-C'))) {
    if (up.isDead || performance.now() > ends) {
      await up.stop(0)
      throw new Error(`up is not ready:\n${up.lines.join('\n')}`)
    }
    await delay(20)
  }
  return up
}

function serverConfig(folder: string, { concurrency = 1, recordsBytes = false }: ServerOptions): object {
  const files = [join(folder, 'seen'), join(folder, '.plimsoll', 'tally')]
  if (recordsBytes) {
    files.push(join(folder, 'bytes'))
    mkdirSync(join(folder, 'bytes'))
  }
  return {
    workers: { command: [process.execPath, program, '{port}', ...files], concurrency },
    routes: [
      { name: 'tally', path: '/tally', repeat: false },
      { name: 'rest', path: '/**' },
    ],
  }
}

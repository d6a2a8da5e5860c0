/**
 * A PostgreSQL server for tests: the binaries of Debian's package, data in a temporary folder, a free port on loopback,
 * and the durability of a real one. It ends with this process.
 */

import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { installPackage } from './debian.ts'

export interface Postgres {
  port: number
  /** Makes a database and returns its URL. */
  createDatabase(): Promise<string>
  query<Row extends pg.QueryResultRow>(text: string, url?: string): Promise<Row[]>
  /** Ends all connections and processes of the server at once, as a crash does. */
  crash(): Promise<void>
  /** After a crash. */
  start(): Promise<void>
  stop(): Promise<void>
}

/** It is in the URLs, and must be in no log and no error. */
export const password = 'secret-of-the-store'
const user = 'plimsoll'
/** Installing the package would start a server that nobody stops. */
const withoutCluster = `$apt install postgresql-common
  echo 'create_main_cluster = false' > /etc/postgresql-common/createcluster.conf`
const startLimitMs = 60_000

/** Undefined, with a line that says why, if PostgreSQL is not installed and cannot be. */
export async function startPostgres(...settings: string[]): Promise<Postgres | undefined> {
  installPackage('postgresql', () => installedBinaries() !== undefined, withoutCluster)
  const binaries = installedBinaries()
  if (binaries === undefined) {
    console.error('SKIPPED: PostgreSQL is not installed here. On Debian: apt-get install postgresql')
    return undefined
  }
  // Not in the temporary folder of the test: the server's user may not be able to reach that one.
  const folder = mkdtempSync('/tmp/plimsoll-postgres-')
  const server = new Server(binaries, folder, settings)
  process.once('exit', () => server.kill())
  await server.create()
  await server.start()
  return server
}

/** The newest version in the folder where Debian puts them. */
function installedBinaries(): string | undefined {
  const folder = '/usr/lib/postgresql'
  const versions = existsSync(folder) ? readdirSync(folder).sort((a, b) => Number(b) - Number(a)) : []
  return versions
    .map((version) => join(folder, version, 'bin'))
    .find((bin) => existsSync(join(bin, 'initdb')))
}

class Server implements Postgres {
  readonly #binaries: string
  readonly #folder: string
  readonly #settings: readonly string[]
  #process: ChildProcess | undefined
  #databases = 0
  port = 0

  constructor(binaries: string, folder: string, settings: readonly string[]) {
    this.#binaries = binaries
    this.#folder = folder
    this.#settings = settings
  }

  get #data(): string {
    return join(this.#folder, 'data')
  }

  /** The server refuses to run as root. */
  #as(program: string, ...args: string[]): [command: string, args: string[]] {
    const path = join(this.#binaries, program)
    const end = ['--pdeathsig', 'QUIT']
    if (process.getuid?.() !== 0) return ['setpriv', [...end, path, ...args]]
    return ['setpriv', ['--reuid=postgres', '--regid=postgres', '--clear-groups', ...end, path, ...args]]
  }

  async create(): Promise<void> {
    const secret = join(this.#folder, 'password')
    writeFileSync(secret, password)
    mkdirSync(this.#data, { mode: 0o700 })
    if (process.getuid?.() === 0) {
      const [uid, gid] = ['-u', '-g'].map((option) => Number(execFileSync('id', [option, 'postgres'])))
      for (const path of [this.#folder, secret, this.#data]) chownSync(path, uid!, gid!)
    }
    const options = ['--auth=scram-sha-256', '-U', user, `--pwfile=${secret}`, '--no-sync']
    const [command, args] = this.#as('initdb', '-D', this.#data, ...options, '-E', 'UTF8', '--locale=C.UTF-8')
    execFileSync(command, args, { stdio: ['ignore', 'ignore', 'inherit'], cwd: this.#folder })
    this.port = await freePort()
  }

  async start(): Promise<void> {
    const settings = [
      ...['listen_addresses=127.0.0.1', 'unix_socket_directories=', 'fsync=on', 'max_connections=50'],
      ...this.#settings,
    ].flatMap((setting) => ['-c', setting])
    const [command, args] = this.#as('postgres', '-D', this.#data, '-p', `${this.port}`, ...settings)
    const server = spawn(command, args, { stdio: ['ignore', 'ignore', 'pipe'], cwd: this.#folder })
    this.#process = server
    let log = ''
    server.stderr!.setEncoding('utf8').on('data', (text: string) => {
      log = (log + text).slice(-10_000)
    })
    const limit = performance.now() + startLimitMs
    while (!/ready to accept connections/.test(log)) {
      if (server.exitCode !== null || performance.now() > limit)
        throw new Error(`PostgreSQL does not start: ${log}`)
      await delay(20)
    }
  }

  async createDatabase(): Promise<string> {
    const name = `jobs${++this.#databases}`
    await this.query(`CREATE DATABASE ${name}`)
    return this.#url(name)
  }

  async query<Row extends pg.QueryResultRow>(text: string, url = this.#url('postgres')): Promise<Row[]> {
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    try {
      return (await client.query<Row>(text)).rows
    } finally {
      await client.end()
    }
  }

  async crash(): Promise<void> {
    await this.#end('SIGQUIT')
  }

  async stop(): Promise<void> {
    await this.#end('SIGINT')
    this.kill()
  }

  /** For a process that exits. */
  kill(): void {
    this.#process?.kill('SIGQUIT')
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 })
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const server = this.#process
    if (!server || server.exitCode !== null || server.signalCode !== null) return
    server.kill(signal)
    await once(server, 'exit')
    this.#process = undefined
  }

  #url(database: string): string {
    return `postgres://${user}:${password}@127.0.0.1:${this.port}/${database}`
  }
}

export async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as AddressInfo
  probe.close()
  await once(probe, 'close')
  return port
}

/** PgBouncer in front of a test's PostgreSQL server: each transaction may get another connection of the server. */

import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { installPackage } from './debian.ts'
import { freePort, type Postgres, password } from './postgres.ts'

export interface Pooler {
  /** The URL of the same database behind the pooler. */
  urlOf(url: string): string
  stop(): Promise<void>
}

/** Undefined, with a line that says so, if PgBouncer is not installed. */
export async function startPooler({ port }: Postgres): Promise<Pooler | undefined> {
  const env = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin` }
  const isThere = () => spawnSync('pgbouncer', ['--version'], { env }).status === 0
  installPackage('pgbouncer', isThere)
  if (!isThere()) {
    console.error('SKIPPED: PgBouncer is not installed here. On Debian: apt-get install pgbouncer')
    return undefined
  }
  const folder = mkdtempSync('/tmp/plimsoll-pooler-')
  chmodSync(folder, 0o755)
  const own = await freePort()
  const file = join(folder, 'pgbouncer.ini')
  const settings = [
    ...['[databases]', `* = host=127.0.0.1 port=${port} user=plimsoll password=${password}`, '[pgbouncer]'],
    ...['listen_addr = 127.0.0.1', `listen_port = ${own}`, 'unix_socket_dir =', 'auth_type = any'],
    ...['pool_mode = transaction', 'default_pool_size = 4', 'max_client_conn = 200'],
  ]
  writeFileSync(file, `${settings.join('\n')}\n`)
  const isRoot = process.getuid?.() === 0
  if (isRoot) {
    const id = (option: string) => Number(spawnSync('id', [option, 'postgres'], { encoding: 'utf8' }).stdout)
    chownSync(file, id('-u'), id('-g'))
  }
  const user = isRoot ? ['--reuid=postgres', '--regid=postgres', '--clear-groups'] : []
  const child = spawn('setpriv', [...user, '--pdeathsig', 'KILL', 'pgbouncer', '--quiet', file], {
    ...{ env, stdio: 'ignore', cwd: folder },
  })
  await delay(300)
  return {
    urlOf: (url) => url.replace(`:${port}/`, `:${own}/`),
    async stop() {
      if (child.exitCode === null && child.signalCode === null) {
        child.kill('SIGKILL')
        await once(child, 'exit')
      }
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

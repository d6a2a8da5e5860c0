/**
 * Builds the Dockerfile with buildah on a base image made here, and runs the image with podman: a cluster that answers and stops on
 * SIGTERM without losing a request, and a worker in a second container that joins over TLS.
 * Needs root on Debian, which it uses to install the programs, and npm's registry. npm run check:image
 */

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { installPackage } from '../support/debian.ts'
import { makeBase } from './image/base.ts'
import { type Engine, engineIn } from './image/commands.ts'
import { copyCheckout } from './package/pack.ts'

const root = join(import.meta.dirname, '..', '..')
const inside = '--inside'
const npm = process.env.npm_execpath
/** Without cgroups there is no limit on processes or files that podman could take over. */
const runOptions = [
  ...['--cgroups=disabled', '--network', 'host'],
  ...['--ulimit', 'nofile=16384:16384', '--ulimit', 'nproc=4096:4096'],
]
const patienceMs = 120_000

if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get') || npm === undefined) {
  console.error('image: must be run by root on Debian, as npm run check:image')
  process.exit(2)
}
if (process.argv[2] !== inside) {
  for (const [name, program = name] of [['buildah'], ['podman'], ['crun'], ['debootstrap']])
    installPackage(name!, () => spawnSync('which', [program!]).status === 0)
  // crun refuses a machine that has both versions of cgroups mounted.
  const script = 'if mountpoint -q /sys/fs/cgroup/unified; then umount /sys/fs/cgroup/unified; fi; exec "$@"'
  const again = ['sh', process.execPath, import.meta.filename, inside]
  const { status } = spawnSync('unshare', ['--mount', 'sh', '-c', script, ...again], { stdio: 'inherit' })
  process.exit(status ?? 1)
}

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'plimsoll-image-')))
const engine = engineIn(folder)
const started: string[] = []
process.on('exit', () => {
  for (const name of started) remove(engine, name)
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
})
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => process.exit(1))

function remove({ podman }: Engine, name: string): void {
  try {
    podman(['rm', '--force', '--volumes', '--time', '0', name])
  } catch (error) {
    console.error((error as Error).message)
  }
}

async function step(name: string, work: () => void | Promise<void>): Promise<void> {
  const startedAt = performance.now()
  await work()
  console.log(`${name}: good, ${((performance.now() - startedAt) / 1000).toFixed(1)} s`)
}

function start(name: string, options: readonly string[], ...args: string[]): void {
  started.push(name)
  engine.podman(['run', '--detach', '--name', name, ...runOptions, ...options, 'plimsoll', ...args])
}

async function until(isSo: () => unknown, what: string): Promise<void> {
  const last = Date.now() + patienceMs
  while (!isSo()) {
    if (Date.now() > last) throw new Error(`not so after ${patienceMs / 1000} s: ${what}\n${allLogs()}`)
    await sleep(200)
  }
}

/** With what it prints on standard error. */
function logsOf(name: string): string {
  const path = engine.podman(['inspect', '--format', '{{.HostConfig.LogConfig.Path}}', name]).trim()
  return readFileSync(path, 'utf8')
}

function allLogs(): string {
  return started.map((name) => `${name}:\n${logsOf(name)}`).join('\n')
}

function stop(name: string): void {
  engine.podman(['stop', '--time', '45', name])
  assert.equal(engine.podman(['inspect', '--format', '{{.State.ExitCode}}', name]).trim(), '0', logsOf(name))
}

/** User ids of the container's processes. */
function usersOf(name: string): Set<string> {
  const first = engine.podman(['inspect', '--format', '{{.State.Pid}}', name]).trim()
  const namespace = readlinkSync(`/proc/${first}/ns/pid`)
  const users = readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry))
    .flatMap((pid) => {
      try {
        if (readlinkSync(`/proc/${pid}/ns/pid`) !== namespace) return []
        return /^Uid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]!
      } catch {
        // It has ended.
        return []
      }
    })
  return new Set(users)
}

async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'))
  await Promise.all(servers.map((server) => new Promise((resolve) => server.once('listening', resolve))))
  const ports = servers.map((server) => (server.address() as { port: number }).port)
  for (const server of servers) server.close()
  return ports
}

async function main(): Promise<void> {
  const base = /^FROM (\S+)$/m.exec(readFileSync(join(root, 'Dockerfile'), 'utf8'))![1]!
  const cache = join(root, 'node_modules', '.cache', 'plimsoll', 'image')
  await step('base image', () => makeBase(engine, `docker.io/library/${base}`, cache, npm!))
  const context = join(folder, 'context')
  mkdirSync(context)
  copyCheckout(root, context)
  await step('build', () => {
    engine.buildah(
      'bud',
      '--isolation',
      'chroot',
      '--pull-never',
      '--layers=false',
      '--tag',
      'plimsoll',
      context,
    )
  })

  const [port, adminPort, joinPort] = await freePorts(3)
  const url = `http://127.0.0.1:${port}`
  const addresses = ['--host', '0.0.0.0', '--port', `${port}`, '--admin-port', `${adminPort}`]
  const up = ['up', ...addresses, '--join-address', `127.0.0.1:${joinPort}`, '--data', '/data']
  await step('a cluster answers, as an unprivileged user', async () => {
    start('cluster', ['--volume', 'cluster:/data'], ...up, '--min', '1', '--max', '2')
    await until(() => logsOf('cluster').includes('is ready'), 'the cluster is ready')
    const answer = await fetch(`${url}/factorize?n=999985999949`)
    assert.deepEqual(await answer.json(), { n: '999985999949', factors: ['999983', '1000003'] })
    assert.deepEqual([...usersOf('cluster')], ['1000'])
    assert.doesNotMatch(logsOf('cluster'), /others had access/)
    assert.match(
      engine.podman(['exec', 'cluster', 'plimsoll', 'status', '--data', '/data']),
      /1 worker ready/,
    )
  })
  await step('a worker in another container joins over TLS and answers', async () => {
    const token = engine.podman(['exec', 'cluster', 'cat', '/data/tokens/worker'])
    const write = ['--entrypoint', 'sh', 'plimsoll', '-c', 'umask 077 && cat > /data/worker-token']
    engine.podman(
      ['run', '--interactive', '--rm', ...runOptions, '--volume', 'worker:/data', ...write],
      token,
    )
    const join = ['--join', `tls://127.0.0.1:${joinPort}`, '--token-file', '/data/worker-token']
    start('worker', ['--volume', 'worker:/data'], 'worker', '--id', 'elsewhere', ...join, '--data', '/data')
    const status = () => engine.podman(['exec', 'cluster', 'plimsoll', 'status', '--data', '/data'])
    await until(() => /^elsewhere +ready/m.test(status()), 'the worker has joined')
    // More than one worker runs at a time.
    const requests = Array.from({ length: 4 }, (_, i) => fetch(`${url}/julia?width=1200&height=${900 + i}`))
    const workers = (await Promise.all(requests)).map(({ headers }) => headers.get('plimsoll-worker'))
    assert.ok(workers.includes('elsewhere'), `${workers}`)
    stop('worker')
  })
  await step('SIGTERM lets a request in progress finish', async () => {
    const request = fetch(`${url}/factorize?n=1000000016000000063`)
    const state = () => engine.podman(['exec', 'cluster', 'plimsoll', 'status', '--data', '/data'])
    await until(() => /1 in progress/.test(state()), 'the request is in progress')
    stop('cluster')
    assert.deepEqual(await (await request).json(), {
      n: '1000000016000000063',
      factors: ['1000000007', '1000000009'],
    })
  })
}

await main()

/** HAProxy and nginx, configured as their manuals advise, in the foreground, in a temporary folder. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer } from 'node:net'
import { join } from 'node:path'
import { bearer } from '../../src/wire/token.ts'
import { deathSignal } from '../../src/worker/processes/death-signal.ts'
import type { BareWorker } from './bare-workers.ts'

interface Proxy {
  /** The name of the program and of its Debian package. */
  program: string
  config(parts: ConfigParts): string
  args(folder: string): string[]
}

interface ConfigParts {
  port: number
  token: string
  workers: readonly BareWorker[]
  folder: string
}

export interface RunningProxy {
  url: string
  pid: number
  stop(): Promise<void>
}

/** One thread, so that it counts connections exactly; no limit per worker; long timeouts. */
const haproxy: Proxy = {
  program: 'haproxy',
  config: ({ port, token, workers }) => `
global
    nbthread 1

defaults
    mode http
    option http-keep-alive
    http-reuse always
    timeout connect 10s
    timeout client 1h
    timeout server 1h
    timeout http-keep-alive 1h

listen live
    bind 127.0.0.1:${port}
    balance leastconn
    http-request set-header authorization "${bearer(token)}"
${workers.map(({ host, port }, i) => `    server w${i} ${host}:${port} pool-max-conn -1`).join('\n')}
`,
  args: (folder) => ['-db', '-f', configOf(folder)],
}

/** One process, so that it counts connections exactly; bodies stay in memory. */
const nginx: Proxy = {
  program: 'nginx',
  config: ({ port, token, workers, folder }) => `
daemon off;
master_process off;
worker_processes 1;
pid ${folder}/pid;
error_log ${folder}/error.log warn;
events { worker_connections 4000; }
http {
    access_log off;
    tcp_nodelay on;
    keepalive_timeout 1h;
    keepalive_requests 1000000;
    client_max_body_size 0;
    client_body_buffer_size 16m;
    client_body_temp_path ${folder}/body;
    proxy_temp_path ${folder}/proxy;
    fastcgi_temp_path ${folder}/fastcgi;
    uwsgi_temp_path ${folder}/uwsgi;
    scgi_temp_path ${folder}/scgi;
    upstream workers {
        zone workers 256k;
        least_conn;
${workers.map(({ host, port }) => `        server ${host}:${port} max_fails=0;`).join('\n')}
        keepalive 1000;
        keepalive_requests 1000000;
    }
    server {
        listen 127.0.0.1:${port};
        location / {
            proxy_pass http://workers;
            proxy_http_version 1.1;
            proxy_set_header connection "";
            proxy_set_header authorization "${bearer(token)}";
            proxy_buffer_size 16k;
            proxy_buffers 64 64k;
            proxy_busy_buffers_size 128k;
            proxy_max_temp_file_size 0;
            proxy_connect_timeout 10s;
            proxy_read_timeout 1h;
            proxy_send_timeout 1h;
            proxy_next_upstream off;
        }
    }
}
`,
  args: (folder) => ['-p', folder, '-c', configOf(folder), '-e', join(folder, 'error.log')],
}

export const proxies = { haproxy, nginx } as const
export type ProxyName = keyof typeof proxies

function configOf(folder: string): string {
  return join(folder, 'conf')
}

/** Debian installs servers in folders that are not on every user's path. */
const env = { ...process.env, PATH: `${process.env.PATH}:/usr/local/sbin:/usr/sbin:/sbin` }

/** Its version, or undefined if it is not installed. */
export function versionOf(name: ProxyName): string | undefined {
  const { stdout, stderr, status } = spawnSync(proxies[name].program, ['-v'], { env, encoding: 'utf8' })
  return status === 0 ? /\d+\.\d+\.\d+/.exec(stdout + stderr)?.[0] : undefined
}

export async function startProxy(
  name: ProxyName,
  { folder, ...parts }: Omit<ConfigParts, 'port'>,
): Promise<RunningProxy> {
  const { program, config, args } = proxies[name]
  const port = await freePort()
  mkdirSync(folder, { recursive: true })
  writeFileSync(configOf(folder), config({ ...parts, folder, port }))
  const [command, ...rest] = [...deathSignal(), program, ...args(folder)]
  // In its own process group: Ctrl-C reaches only the benchmark, which then ends it.
  const child = spawn(command!, rest, { env, stdio: ['ignore', 'pipe', 'pipe'], detached: true })
  let said = ''
  for (const output of [child.stdout, child.stderr]) output.on('data', (text) => (said += text))
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return
    const ended = once(child, 'exit')
    child.kill('SIGTERM')
    const force = setTimeout(() => child.kill('SIGKILL'), 2_000)
    await ended
    clearTimeout(force)
  }
  try {
    await answering(child, port)
  } catch (error) {
    await stop()
    throw new Error(`${name}: ${(error as Error).message}\n${said}`)
  }
  return { url: `http://127.0.0.1:${port}`, pid: child.pid!, stop }
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

/** A busy machine takes long to start a process. */
const mostTries = 400

/** Resolves when the proxy accepts connections. */
async function answering(child: ChildProcess, port: number): Promise<void> {
  let failure: string | undefined
  child.once('error', (error) => {
    failure = error.message
  })
  child.once('exit', (code, signal) => {
    failure ??= `it ended (${signal ?? code})`
  })
  for (let tries = 0; tries < mostTries; tries++) {
    if (failure !== undefined) throw new Error(failure)
    if (await connects(port)) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error('it accepts no connections')
}

export function connects(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => socket.end() && resolve(true))
    socket.once('error', () => resolve(false))
  })
}

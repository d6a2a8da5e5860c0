/** What is measured: the trivial server alone, behind each proxy and behind Plimsoll, and a trivial workload. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { connects, freePort } from '../live/proxies.ts'
import { end, launch, type Started, startUp, startUpstream, until, upstream } from '../own/started.ts'
import { envoyConfig, haproxyConfig, nginxConfig, type Ports } from './peer-configs.ts'
import { envoyBinary, nodeProxiesFolder } from './peer-packages.ts'

export const nodeProxies = ['fast-proxy', 'fastify-http-proxy', 'http-proxy'] as const
export const names = [
  'direct',
  'nginx',
  'nginx-2',
  'haproxy',
  'envoy',
  ...nodeProxies,
  'own-64',
  'own-64-post',
  'own-64-2-fronts',
  'own-1',
  'upstream-64',
  'workload',
  'workload-post',
] as const
export type Name = (typeof names)[number]

export const meanings: Readonly<Record<Name, string>> = {
  direct: 'the server without a proxy; CPU: its own',
  nginx: 'nginx, one process',
  'nginx-2': 'nginx, two worker processes',
  haproxy: 'HAProxy, one thread',
  envoy: 'Envoy, one worker thread',
  'fast-proxy': 'fast-proxy, with undici',
  'fastify-http-proxy': '@fastify/http-proxy',
  'http-proxy': 'http-proxy with a kept-alive agent',
  'own-64': 'plimsoll up with the server as its program, concurrency 64',
  'own-64-post': 'the same, with JSON in a POST',
  'own-64-2-fronts': 'the first with --fronts 2',
  'own-1': 'the first with concurrency 1',
  'upstream-64': 'plimsoll up with the server as an upstream that runs already, concurrency 64',
  workload: 'plimsoll up with a workload that does nothing; CPU: slots included',
  'workload-post': 'the same, with its parameters as JSON in a POST',
}

export interface System extends Started {
  name: Name
  /** Path of a request that is answered with this number of bytes. */
  path(bytes: number): string
  /** JSON that is posted to this path. Default: none, a GET. */
  body?(bytes: number): string
}

const slots = 64
const workload = join(import.meta.dirname, '../workloads/nothing.ts')
const smallBytes = 100
const serverPath = (bytes: number) => (bytes === smallBytes ? '/small' : `/large?bytes=${bytes}`)
const workloadPath = (bytes: number) => (bytes === smallBytes ? '/nothing' : `/nothing?bytes=${bytes}`)

export interface StartParts {
  folder: string
  upstreamPort: number
  /** Of the processes of Plimsoll. */
  env?: NodeJS.ProcessEnv
  /** For Plimsoll, besides those of the system. */
  flags?: readonly string[]
}

/** The server that all proxies share. */
export async function startDirect(): Promise<System & { port: number }> {
  return { ...(await startUpstream()), name: 'direct', path: serverPath }
}

/** Undefined, with a line that says so, if the proxy is not available. */
export async function startSystem(name: Name, parts: StartParts): Promise<System | undefined> {
  const folder = join(parts.folder, name)
  mkdirSync(folder, { recursive: true })
  if (name === 'workload') {
    const started = await startPlimsoll(folder, parts, ['--workloads', workload])
    return { ...started, name, path: workloadPath }
  }
  if (name === 'workload-post') {
    const started = await startPlimsoll(folder, parts, ['--workloads', workload])
    return { ...started, name, path: () => '/nothing', body: (bytes) => JSON.stringify({ bytes }) }
  }
  const plimsoll = plimsollConfig(name, parts.upstreamPort)
  if (plimsoll) {
    const config = join(folder, 'plimsoll.config.json')
    writeFileSync(config, JSON.stringify(plimsoll.config))
    const started = await startPlimsoll(folder, parts, ['--config', config, ...plimsoll.flags])
    return { ...started, name, path: serverPath, ...(name === 'own-64-post' && { body: () => '{"n":21}' }) }
  }
  const peer = await startPeer(name, folder, parts.upstreamPort)
  return peer && { ...peer, name, path: serverPath }
}

function plimsollConfig(name: Name, upstreamPort: number): { config: object; flags: string[] } | undefined {
  const command = [process.execPath, upstream, '--port', '{port}']
  const one = ['--min', '1', '--max', '1']
  // As many requests at a time as the server takes.
  const many = ['--slots', `${slots}`]
  if (name === 'own-1') return { config: { workers: { command, concurrency: 1 } }, flags: one }
  if (name === 'upstream-64')
    return { config: { upstreams: [`http://127.0.0.1:${upstreamPort}`], concurrency: slots }, flags: many }
  if (!name.startsWith('own-64')) return undefined
  const fronts = name === 'own-64-2-fronts' ? ['--fronts', '2'] : []
  return { config: { workers: { command, concurrency: slots } }, flags: [...one, ...many, ...fronts] }
}

function startPlimsoll(folder: string, { env, flags = [] }: StartParts, own: string[]): Promise<Started> {
  const fleet = own.includes('--workloads') ? ['--min', '1', '--max', '1'] : []
  return startUp(folder, ['--stop-after', '0', ...fleet, ...own, ...flags], env)
}

async function startPeer(name: Name, folder: string, upstreamPort: number): Promise<Started | undefined> {
  const port = await freePort()
  const command = peerCommand(name, folder, {
    ...{ port, upstreamPort, folder },
    workers: name === 'nginx-2' ? 2 : 1,
  })
  if (!command) return undefined
  const PATH = `${process.env.PATH}:/usr/local/sbin:/usr/sbin:/sbin`
  const child = launch(command, { ...process.env, PATH, NODE_ENV: 'production' })
  let said = ''
  for (const output of [child.stdout!, child.stderr!])
    output.on('data', (text) => (said = (said + text).slice(-2000)))
  try {
    await until(child, async () => (await connects(port)) || undefined)
  } catch (error) {
    await end(child)
    console.error(`${name} does not start, and is left out: ${(error as Error).message}\n${said}`)
    return undefined
  }
  return { url: `http://127.0.0.1:${port}`, pid: child.pid!, stop: () => end(child) }
}

function peerCommand(name: Name, folder: string, ports: Ports): string[] | undefined {
  const file = join(folder, name === 'envoy' ? 'config.json' : 'config')
  if (name === 'nginx' || name === 'nginx-2') {
    writeFileSync(file, nginxConfig(ports))
    return ['nginx', '-p', folder, '-c', file, '-e', join(folder, 'error.log')]
  }
  if (name === 'haproxy') {
    writeFileSync(file, haproxyConfig(ports))
    return ['haproxy', '-db', '-f', file]
  }
  if (name === 'envoy') {
    const binary = envoyBinary()
    writeFileSync(file, envoyConfig(ports))
    const quiet = ['--log-level', 'error', '--disable-hot-restart', '--concurrency', '1']
    return binary === undefined ? undefined : [binary, '-c', file, ...quiet]
  }
  const packages = nodeProxiesFolder()
  const program = join(import.meta.dirname, 'node-proxies', `${name}.mjs`)
  return packages === undefined
    ? undefined
    : [process.execPath, program, packages, `${ports.port}`, `${ports.upstreamPort}`]
}

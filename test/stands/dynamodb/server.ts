/** Servers that speak DynamoDB's protocol: Amazon's DynamoDB Local, which is the faithful one, and moto. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync } from 'node:fs'
import { createServer as createProxy } from 'node:http'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { installOnce, run } from './cache.ts'

export interface Stand {
  endpoint: string
  /** A POST to it removes all tables. */
  reset?: string
  stop(): Promise<void>
}

export const standNames = ['local', 'moto'] as const
export type StandName = (typeof standNames)[number]

const localVersion = '2.6.1'
const motoVersion = '5.2.5'
const startLimitMs = 120_000

/** Throws if it cannot be installed or started. */
export function startStand(name: StandName): Promise<Stand> {
  return name === 'local' ? startLocal() : startMoto()
}

/** Java's archives come from Maven Central; everything is held in memory. */
async function startLocal(): Promise<Stand> {
  const folder = installOnce(`dynamodb-local-${localVersion}`, (making) => {
    copyFileSync(join(import.meta.dirname, 'pom.xml'), join(making, 'pom.xml'))
    run('mvn', ['-q', '-B', 'dependency:copy-dependencies', '-DoutputDirectory=libs'], { cwd: making })
  })
  const port = await freePort()
  const java = [
    '-Xshare:auto',
    '-XX:TieredStopAtLevel=1',
    '-Xmx256m',
    '-Djava.library.path=libs',
    '-cp',
    'libs/*',
  ]
  const main = 'com.amazonaws.services.dynamodbv2.local.main.ServerRunner'
  const settings = ['-inMemory', '-sharedDb', '-disableTelemetry', '-port', `${port}`]
  return started('java', [...java, main, ...settings], folder, port)
}

async function startMoto(): Promise<Stand> {
  const folder = installOnce(`moto-${motoVersion}`, (making) => {
    run('python3', ['-m', 'venv', join(making, 'python')])
    // Scripts would name the folder that is moved away.
    run(join(making, 'python/bin/python'), [
      '-m',
      'pip',
      'install',
      '-q',
      `moto[dynamodb,server]==${motoVersion}`,
    ])
  })
  const port = await freePort()
  const python = join(folder, 'python/bin/python')
  const moto = await started(python, ['-m', 'moto.server', '-H', '127.0.0.1', '-p', `${port}`], folder, port)
  return oneAtATime(moto)
}

/** moto answers requests in threads that share its tables without locks, so transactions would not be atomic. */
async function oneAtATime(behind: Stand): Promise<Stand> {
  let last: Promise<unknown> = Promise.resolve()
  const server = createProxy((request, response) => {
    const pass = async () => {
      const body = Buffer.concat(await Array.fromAsync(request))
      const headers = Object.entries(request.headers).filter(([name]) => passed.has(name)) as [
        string,
        string,
      ][]
      const { method = 'POST', url = '/' } = request
      const answer = await fetch(`${behind.endpoint}${url}`, { method, headers, body })
      const bytes = Buffer.from(await answer.arrayBuffer())
      response
        .writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' })
        .end(bytes)
    }
    last = last.then(pass).catch(() => request.socket.destroy())
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    endpoint,
    reset: `${endpoint}/moto-api/reset`,
    async stop() {
      server.closeAllConnections()
      server.close()
      await behind.stop()
    },
  }
}

const passed = new Set([
  'authorization',
  'content-type',
  'x-amz-target',
  'x-amz-date',
  'amz-sdk-invocation-id',
])

async function started(command: string, args: readonly string[], cwd: string, port: number): Promise<Stand> {
  const child = spawn(command, args, { cwd, stdio: ['ignore', 'ignore', 'pipe'] })
  let errors = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors = `${errors}${text}`.slice(-2_000)
  })
  const kill = () => child.kill('SIGKILL')
  process.once('exit', kill)
  const exited = once(child, 'exit')
  const endpoint = `http://127.0.0.1:${port}`
  for (const until = Date.now() + startLimitMs; ; await delay(50)) {
    if (await answers(endpoint)) break
    if (child.exitCode !== null || Date.now() > until) throw new Error(`${command} did not start: ${errors}`)
  }
  return {
    endpoint,
    async stop() {
      kill()
      await exited
      process.off('exit', kill)
    },
  }
}

async function answers(endpoint: string): Promise<boolean> {
  try {
    await (await fetch(endpoint)).text()
    return true
  } catch {
    return false
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

/** Runs the real program in child processes, for tests of commands. */

import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const main = fileURLToPath(new URL('../plimsoll.js', import.meta.url))

export interface Ended {
  code: number | null
  stdout: string
  stdoutBytes: Buffer
  stderr: string
}

export interface Running {
  process: ChildProcess
  ended: Promise<Ended>
  /** Resolves with all output so far, once it matches. */
  said(pattern: RegExp): Promise<string>
}

export function start(args: string[], env: Record<string, string> = {}): Running {
  const child = spawn(process.execPath, [main, ...args], {
    stdio: 'pipe',
    env: { ...process.env, NO_COLOR: '1', ...env },
  })
  const output = { stdout: [] as Buffer[], stderr: [] as Buffer[], all: '' }
  const news = new EventEmitter()
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].on('data', (chunk: Buffer) => {
      output[name].push(chunk)
      output.all += chunk
      news.emit('news')
    })
  }
  const ended = once(child, 'close').then(([code]) => {
    news.emit('news')
    const stdoutBytes = Buffer.concat(output.stdout)
    const stderr = Buffer.concat(output.stderr).toString()
    return { code, stdout: stdoutBytes.toString(), stdoutBytes, stderr }
  })
  return {
    process: child,
    ended,
    async said(pattern) {
      while (!pattern.test(output.all)) {
        assert.equal(child.exitCode ?? child.signalCode, null, `it ended: ${output.all}`)
        await once(news, 'news')
      }
      return output.all
    },
  }
}

/** Runs a command to its end. */
export function run(args: string[], input = ''): Promise<Ended> {
  const { process: child, ended } = start(args)
  child.stdin!.on('error', () => {})
  child.stdin!.end(input)
  return ended
}

export interface Up {
  url: string
  adminUrl: string
  /** Its data folder. */
  data: string
  stop(): Promise<void>
}

/** A cluster of one worker on free ports, in a temporary folder. */
export async function startUp(): Promise<Up> {
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-cli-'))
  const data = join(folder, 'data')
  const program = start(['up', '--port', '0', '--admin-port', '0', '--max', '1', '--data', data])
  const said = await program.said(/Try:/)
  const [url = '', adminUrl = ''] = said.match(/http:\/\/127\.0\.0\.1:\d+/g) ?? []
  return {
    url,
    adminUrl,
    data,
    async stop() {
      program.process.kill('SIGTERM')
      await program.ended
      rmSync(folder, { recursive: true })
    },
  }
}

/** An address without a listener. Its port stays taken by the near end of a connection, so that nothing can listen there. */
export async function deserted(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const socket = connect(port, '127.0.0.1')
  const [[far]] = await Promise.all([once(server, 'connection'), once(socket, 'connect')])
  for (const each of [server, socket, far as Socket]) each.unref()
  return `http://127.0.0.1:${socket.localPort}`
}

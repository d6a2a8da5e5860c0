/** An instance: its user data runs as a real process, beside a metadata service (IMDSv2) of its own. */

import { type ChildProcess, spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'

export interface InstanceParts {
  id: string
  /** In base64. */
  userData: string
  /** For its files. */
  folder: string
  bootMs: number
  /** Its user data has ended by itself. */
  onEnd(): void
}

/** A machine that is terminated is told to shut down first. */
const shutdownMs = 5_000

export class Instance {
  readonly id: string
  readonly #parts: InstanceParts
  readonly #metadata: Server
  #boot: NodeJS.Timeout | undefined
  #child: ChildProcess | undefined
  #notice: string | undefined
  #isEnded = false
  isPending = true

  constructor(parts: InstanceParts) {
    this.id = parts.id
    this.#parts = parts
    this.#metadata = createServer((request, response) => {
      const token = `token-${this.id}`
      if (request.method === 'PUT' && request.url === '/latest/api/token') return void response.end(token)
      if (request.headers['x-aws-ec2-metadata-token'] !== token) return void response.writeHead(401).end()
      const isAsked = request.url === '/latest/meta-data/spot/instance-action'
      if (isAsked && this.#notice !== undefined) return void response.end(this.#notice)
      response.writeHead(404).end()
    })
    this.#metadata.listen(0, '127.0.0.1', () => {
      this.#boot = setTimeout(() => this.#start(), parts.bootMs)
    })
  }

  /** AWS announces that it will interrupt this spot instance. */
  announceInterruption(inMs: number): void {
    const time = new Date(Date.now() + inMs).toISOString().replace(/\.\d+Z$/, 'Z')
    this.#notice = JSON.stringify({ action: 'terminate', time })
  }

  /** Idempotent. `atOnce`: the machine fails. */
  end(atOnce: boolean): void {
    if (this.#isEnded) return
    this.#isEnded = true
    clearTimeout(this.#boot)
    this.#metadata.close()
    this.#metadata.closeAllConnections()
    this.#kill(atOnce ? 'SIGKILL' : 'SIGTERM')
    if (!atOnce) setTimeout(() => this.#kill('SIGKILL'), shutdownMs).unref()
  }

  #start(): void {
    const { id, userData, folder, onEnd } = this.#parts
    this.isPending = false
    const file = join(folder, `${id}.sh`)
    writeFileSync(file, Buffer.from(userData, 'base64'), { mode: 0o700 })
    const { port } = this.#metadata.address() as AddressInfo
    // It must not outlive the check.
    this.#child = spawn('setpriv', ['--pdeathsig', 'KILL', file], {
      detached: true,
      stdio: 'ignore',
      env: {
        PATH: process.env.PATH,
        HOME: folder,
        INSTANCE: id,
        AWS_EC2_METADATA_SERVICE_ENDPOINT: `http://127.0.0.1:${port}`,
      },
    })
    this.#child.on('exit', () => !this.#isEnded && onEnd())
    this.#child.on('error', () => !this.#isEnded && onEnd())
  }

  #kill(signal: 'SIGTERM' | 'SIGKILL'): void {
    const pid = this.#child?.pid
    if (pid === undefined) return
    try {
      process.kill(-pid, signal)
    } catch {
      // It has ended.
    }
  }
}

/** Fronts in separate processes, and cuttable connections to the brain. All end with their test. */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { TestContext } from 'node:test'
import { cli, fixtures, until } from './live.ts'

export interface FrontProcess {
  process: ChildProcess
  url: string
  /** Its output so far. */
  said(): string
}

/** Starts `plimsoll front`. Resolves when it accepts requests. */
export async function startFront(
  t: TestContext,
  { adminUrl, tokens }: { adminUrl: string; tokens: { front: string } },
  ...args: string[]
): Promise<FrontProcess> {
  const served = /--(workloads|config)/.test(args.join(' ')) ? [] : ['--workloads', fixtures]
  const child = spawn(
    process.execPath,
    [cli, 'front', '--join', adminUrl, '--port', '0', ...served, ...args],
    {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, PLIMSOLL_FRONT_TOKEN: tokens.front },
    },
  )
  let text = ''
  for (const output of [child.stdout, child.stderr]) {
    output.setEncoding('utf8').on('data', (part: string) => {
      text += part
    })
  }
  t.after(async () => {
    child.kill('SIGKILL')
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  })
  await until(() => /requests at http/.test(text) || child.exitCode !== null, 'the front accepts requests')
  const url = /https?:\/\/127\.0\.0\.1:\d+/.exec(text)?.[0]
  if (url === undefined) throw new Error(text)
  return { process: child, url, said: () => text }
}

export interface Cable {
  url: string
  /** Closes all connections, and rejects new ones until it is mended. */
  cut(): void
  mend(): void
}

/** A proxy to the brain that can be cut. */
export async function cable(t: TestContext, adminUrl: string): Promise<Cable> {
  const sockets = new Set<Socket>()
  let broken = false
  const server = createServer((socket) => {
    if (broken) return void socket.destroy()
    const { hostname, port } = new URL(adminUrl)
    const far = connect(Number(port), hostname)
    for (const [one, other] of [
      [socket, far],
      [far, socket],
    ] as const) {
      sockets.add(one)
      one.on('error', () => {})
      one.on('close', () => {
        sockets.delete(one)
        other.destroy()
      })
      one.pipe(other)
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const cut = () => {
    broken = true
    for (const socket of sockets) socket.destroy()
  }
  t.after(() => {
    cut()
    server.close()
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut,
    mend: () => {
      broken = false
    },
  }
}

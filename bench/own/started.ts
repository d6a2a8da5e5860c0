/** The processes of the comparison: the upstream alone, and Plimsoll in front of programs of it, started as users do. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { deathSignal } from '../../src/worker/processes/death-signal.ts'
import { main } from '../cluster.ts'
import { connects, freePort } from '../live/proxies.ts'

export const upstream = join(import.meta.dirname, 'upstream.mjs')
const startLimitMs = 60_000

export interface Started {
  url: string
  pid: number
  stop(): Promise<void>
}

export async function startUpstream(): Promise<Started & { port: number }> {
  const port = await freePort()
  const child = start([process.execPath, upstream, '--port', `${port}`])
  await until(child, async () => (await connects(port)) || undefined)
  return { url: `http://127.0.0.1:${port}`, port, pid: child.pid!, stop: () => end(child) }
}

export interface PlimsollOptions {
  concurrency: number
  fronts: number
}

/** One worker, so that there are as many programs as nginx has upstreams. */
export async function startPlimsoll(
  folder: string,
  { concurrency, fronts }: PlimsollOptions,
): Promise<Started> {
  mkdirSync(folder, { recursive: true })
  const config = join(folder, 'plimsoll.config.json')
  const command = [process.execPath, upstream, '--port', '{port}']
  writeFileSync(config, JSON.stringify({ workers: { command, concurrency } }))
  const fleet = ['--min', '1', '--max', '1', '--slots', `${Math.max(17, concurrency)}`]
  const network = ['--port', '0', '--admin-port', '0', '--fronts', `${fronts}`]
  const options = ['--config', config, '--data', join(folder, 'data'), ...fleet, ...network]
  const child = start([process.execPath, main, 'up', ...options])
  let said = ''
  for (const output of [child.stdout!, child.stderr!]) output.on('data', (text) => (said += text))
  const url = await until(child, () => /requests +(http:\S+)/.exec(said)?.[1])
  return { url, pid: child.pid!, stop: () => end(child) }
}

function start([command, ...args]: string[]): ChildProcess {
  const [program, ...words] = [...deathSignal(), command!, ...args]
  return spawn(program!, words, { stdio: ['ignore', 'pipe', 'pipe'], detached: true })
}

async function until<T>(child: ChildProcess, look: () => T | undefined | Promise<T | undefined>): Promise<T> {
  let failure: Error | undefined
  child.once('error', (error) => {
    failure = error
  })
  const limit = performance.now() + startLimitMs
  while (performance.now() < limit) {
    if (failure) throw failure
    if (child.exitCode !== null)
      throw new Error(`${child.spawnargs.join(' ')}: exited with ${child.exitCode}`)
    const found = await look()
    if (found !== undefined) return found
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  await end(child)
  throw new Error(`${child.spawnargs.join(' ')}: not ready after ${startLimitMs / 1000} s`)
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  const force = setTimeout(() => child.kill('SIGKILL'), 10_000)
  await ended
  clearTimeout(force)
}

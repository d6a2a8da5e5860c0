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
  const child = launch([process.execPath, upstream, '--port', `${port}`])
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
  const flags = ['--config', config, '--slots', `${Math.max(17, concurrency)}`, '--fronts', `${fronts}`]
  return startUp(folder, ['--min', '1', '--max', '1', ...flags])
}

/** `plimsoll up` on free ports, with its data in the folder. */
export async function startUp(
  folder: string,
  flags: readonly string[],
  env?: NodeJS.ProcessEnv,
): Promise<Started> {
  const places = ['--port', '0', '--admin-port', '0', '--data', join(folder, 'data')]
  const child = launch([process.execPath, main, 'up', ...places, ...flags], env)
  let said = ''
  for (const output of [child.stdout!, child.stderr!]) output.on('data', (text) => (said += text))
  const url = await until(child, () => /requests +(http:\S+)/.exec(said)?.[1])
  return { url, pid: child.pid!, stop: () => end(child) }
}

/** In its own process group, so that Ctrl-C reaches only the benchmark, which then ends it. */
export function launch(command: readonly string[], env = process.env): ChildProcess {
  const [program, ...words] = [...deathSignal(), ...command]
  return spawn(program!, words, { stdio: ['ignore', 'pipe', 'pipe'], detached: true, env })
}

export async function until<T>(
  child: ChildProcess,
  look: () => T | undefined | Promise<T | undefined>,
): Promise<T> {
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

export async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  const force = setTimeout(() => child.kill('SIGKILL'), 10_000)
  await ended
  clearTimeout(force)
}

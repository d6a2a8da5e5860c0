/** `plimsoll up` as a new user starts it: a process of its own with an empty data folder, and so with empty caches. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { deathSignal } from '../../src/worker/processes/death-signal.ts'
import { main } from '../cluster.ts'
import { workerCount } from '../live/setting.ts'

export interface FreshCluster {
  url: string
  /** Time from the start of the command until it says that it is ready. */
  readyMs: number
  /** Ends it and deletes its data. */
  stop(): Promise<void>
}

const fleet = ['--min', `${workerCount}`, '--max', `${workerCount}`]
const places = ['--port', '0', '--admin-port', '0', '--stop-after', '0']
const startLimitMs = 120_000

/** Resolves when `up` says that it is ready. */
export async function startFresh(flags: readonly string[]): Promise<FreshCluster> {
  const data = mkdtempSync(join(tmpdir(), 'plimsoll-cold-'))
  const { NODE_COMPILE_CACHE: _, ...env } = process.env
  const began = performance.now()
  const [program, ...args] = [
    ...[...deathSignal(), process.execPath, main, 'up'],
    ...[...fleet, ...places, '--data', data, ...flags],
  ]
  const child = spawn(program!, args, { stdio: ['ignore', 'pipe', 'pipe'], detached: true, env })
  const exited = once(child, 'exit')
  const stop = async () => {
    child.kill('SIGTERM')
    await exited
    // A worker that had to be killed may write for a moment longer.
    await rm(data, { recursive: true, force: true, maxRetries: 10 })
  }
  try {
    const url = await readyUrl(child)
    return { url, readyMs: performance.now() - began, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

function readyUrl(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = ''
    const limit = setTimeout(() => reject(new Error(`plimsoll up is not ready:\n${said}`)), startLimitMs)
    const read = (text: Buffer) => {
      said = (said + text).slice(-4000)
      const url = /requests +(http:\S+)/.exec(said)?.[1]
      if (url === undefined) return
      clearTimeout(limit)
      resolve(url)
    }
    child.stdout!.on('data', read)
    child.stderr!.on('data', read)
    child.once('exit', () => {
      clearTimeout(limit)
      reject(new Error(`plimsoll up ended:\n${said}`))
    })
  })
}

/** `plimsoll up` from its start until it is ready, in either layout: door and brain apart, or inside one process. */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { deathSignal } from '../../src/worker/processes/death-signal.ts'
import { main } from '../cluster.ts'

export type Layout = 'apart' | 'inside'

export interface Started {
  /** Time from the start of the command until it says that it is ready. */
  readyMs: number
  /** Of all its processes without workers: proportional set size, in MB. */
  memoryMb: number
}

/** After this time without requests the memory is read. */
const settleMs = 500
const limitMs = 120_000

/** The command line's entry, with the same compile cache, and the front in the brain's process. */
const inside = `
const { enableCompileCache } = await import('node:module')
const { dirname, join } = await import('node:path')
const { pathToFileURL } = await import('node:url')
const [main, ...args] = process.argv.slice(1)
const root = dirname(dirname(dirname(main)))
enableCompileCache(join(root, 'node_modules', '.cache', 'plimsoll'))
const { runUp } = await import(pathToFileURL(join(dirname(main), 'cluster', 'run-up.ts')).href)
process.exitCode = await runUp(args)
`

/** Starts it, measures it and ends it. */
export async function measureStart(layout: Layout): Promise<Started> {
  const data = mkdtempSync(join(tmpdir(), 'plimsoll-startup-'))
  const options = ['--port', '0', '--admin-port', '0', '--min', '1', '--max', '1', '--stop-after', '0']
  const up = layout === 'apart' ? [main, 'up'] : ['--input-type=module', '--eval', inside, '--', main]
  const [program, ...args] = [...deathSignal(), process.execPath, ...up, ...options, '--data', data]
  const { NODE_COMPILE_CACHE: _, PLIMSOLL_TOKEN: __, ...env } = process.env
  const began = performance.now()
  const child = spawn(program!, args, {
    ...{ stdio: ['ignore', 'pipe', 'pipe'], env, detached: true, cwd: dirname(data) },
  })
  const exited = once(child, 'exit')
  try {
    const url = await ready(child)
    const readyMs = performance.now() - began
    // Some parts are loaded at the first request.
    await (await fetch(`${url}/factorize?n=999985999949`)).arrayBuffer()
    await delay(settleMs)
    return { readyMs, memoryMb: memoryOf(child.pid!) }
  } finally {
    child.kill('SIGTERM')
    await exited
    await rm(data, { recursive: true, force: true, maxRetries: 10 })
  }
}

/** Resolves with the public address. */
async function ready(child: ChildProcess): Promise<string> {
  let said = ''
  const done = Promise.withResolvers<void>()
  const limit = setTimeout(() => done.reject(new Error(`plimsoll up is not ready:\n${said}`)), limitMs)
  for (const output of [child.stdout!, child.stderr!]) {
    output.on('data', (text: Buffer) => {
      said = (said + text).slice(-4000)
      if (said.includes('Try:')) done.resolve()
    })
  }
  child.once('exit', () => done.reject(new Error(`plimsoll up ended:\n${said}`)))
  await done.promise.finally(() => clearTimeout(limit))
  return /requests +(http:\S+)/.exec(said)![1]!
}

/** The process and its children that hold the brain and the fronts. */
function memoryOf(root: number): number {
  const children = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && parentOf(name) === root)
    .filter((pid) => / --supervised | front --shared /.test(readProc(pid, 'cmdline').replaceAll('\0', ' ')))
  return [`${root}`, ...children].reduce((sum, pid) => sum + pssMb(pid), 0)
}

function parentOf(pid: string): number {
  const stat = readProc(pid, 'stat')
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
}

function pssMb(pid: string): number {
  return Number(/^Pss: +(\d+) kB/m.exec(readProc(pid, 'smaps_rollup'))?.[1] ?? 0) / 1024
}

function readProc(pid: string, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1')
  } catch {
    return ''
  }
}

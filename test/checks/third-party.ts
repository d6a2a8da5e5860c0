/**
 * Compares a third-party program (s3rver, an object store) behind Plimsoll with the same program alone: a thousand varied
 * requests must have the same answers, byte for byte. node test/checks/third-party.ts [--requests 1000] [--seed 1]
 */

import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { checkConfig } from '../../src/config/check.ts'
import { deathSignal } from '../../src/worker/processes/death-signal.ts'
import { startLive, stopLive, until } from '../support/live.ts'
import { writeJsonConfig } from '../support/own-programs.ts'
import { type Exchanged, exchange, whatDiffers } from './third-party/exchange.ts'
import { prepared, requestsOf } from './third-party/requests.ts'

const s3rver = join(import.meta.dirname, '..', '..', 'node_modules', 's3rver', 'bin', 's3rver.js')

export interface Compared {
  requests: number
  /** By kind of request. */
  kinds: Record<string, number>
  bytes: number
  /** By status. */
  statuses: Record<string, number>
  differences: string[]
}

export async function compareBehindAndBeside(count: number, seed: number): Promise<Compared> {
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-third-'))
  mkdirSync(join(folder, 'store'))
  const command = [
    process.execPath,
    s3rver,
    '-d',
    join(folder, 'store'),
    '-a',
    '127.0.0.1',
    '-p',
    '{port}',
    '--configure-bucket',
    'box',
  ]
  const port = await freePort()
  // The program ends with this process, even if this one is killed.
  const words = [...deathSignal(), ...command].map((word) => word.replace('{port}', `${port}`))
  const direct = spawn(words[0]!, words.slice(1), { stdio: 'ignore' })
  try {
    const origin = `http://127.0.0.1:${port}`
    await until(async () => (await fetch(origin).catch(() => undefined))?.status, 'it answers')
    const config = writeJsonConfig(folder, { workers: { command } })
    const { own } = checkConfig({ workers: { command } }, folder)
    const live = await startLive({ files: [], own: own!, config, slots: 4, queue: 1000 })
    try {
      return await compare(origin, live.url, count, seed)
    } finally {
      await stopLive(live)
    }
  } finally {
    direct.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  }
}

async function compare(direct: string, behind: string, count: number, seed: number): Promise<Compared> {
  for (const request of prepared()) await exchange(direct, request)
  const compared: Compared = { requests: 0, kinds: {}, bytes: 0, statuses: {}, differences: [] }
  for (const { kind, ...request } of requestsOf(count, seed)) {
    const one: Exchanged = await exchange(direct, request)
    const other: Exchanged = await exchange(behind, request)
    compared.requests++
    compared.kinds[kind] = (compared.kinds[kind] ?? 0) + 1
    compared.statuses[one.status] = (compared.statuses[one.status] ?? 0) + 1
    compared.bytes += one.body.length + (request.body?.length ?? 0)
    const differs = whatDiffers(one, other)
    if (differs) compared.differences.push(`${kind}: ${request.method} ${request.path}: ${differs}`)
  }
  return compared
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number }
      server.close(() => resolve(port))
    })
  })
}

if (process.argv[1] === import.meta.filename) {
  const { values } = parseArgs({
    options: { requests: { type: 'string', default: '1000' }, seed: { type: 'string', default: '1' } },
  })
  const found = await compareBehindAndBeside(Number(values.requests), Number(values.seed))
  for (const difference of found.differences) console.log(difference)
  console.log(JSON.stringify({ ...found, differences: found.differences.length }))
  process.exitCode = found.differences.length > 0 ? 1 : 0
}

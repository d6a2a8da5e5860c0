/**
 * Memory of a cluster while crowds of clients wait: many requests that are not answered yet, as streams of HTTP/2, many clients
 * that do not read their answers, with a connection each, and many kept jobs.
 */

import { setTimeout as delay } from 'node:timers/promises'
import { certificateFolder, newCertificate } from '../test/support/certificates.ts'
import { type Role, roleOf, rssMbOf } from '../test/support/hostile/process-tree.ts'
import { startUp, type Up } from '../test/support/hostile/up.ts'
import { type Crowd, KeptCrowd, ReadersCrowd, StreamsCrowd } from './crowd/clients.ts'
import type { BenchOptions } from './options.ts'

const settleMs = 5_000
const waits = '/nap?ms=3600000'
const answerBytes = 65_536
const flags = ['--queue', '100000']

/** Memory in MB by role; of several processes of a role, the largest. */
type Memory = Partial<Record<Role, number>>

const shown = ['main', 'brain', 'front', 'keeper', 'worker'] as const

export async function crowd({ quick }: BenchOptions): Promise<Record<string, unknown>> {
  const sizes = quick ? [0, 1_000, 5_000] : [0, 10_000, 50_000]
  const readers = quick ? [0, 500, 1_000] : [0, 5_000, 10_000]
  const { files } = certificateFolder(newCertificate('localhost'))
  const tls = await startUp({ flags: [...flags, '--tls-cert', ...files.certs, '--tls-key', ...files.keys] })
  const [, port] = /requests +https:\/\/[^:]+:(\d+)/.exec(tls.lines.join('\n')) ?? []
  const waiting = await measured('waiting', tls, new StreamsCrowd(Number(port), waits), sizes)
  const plain = await startUp({ flags })
  const path = `/large?mb=${answerBytes / 2 ** 20}`
  const slow = await measured('not reading', plain, new ReadersCrowd(plain.port, path), readers)
  const keeps = await startUp({ flags })
  const kept = await measured('kept', keeps, new KeptCrowd(keeps.url, waits), quick ? [0, 500, 1_000] : sizes)
  return { waiting, slow, kept }
}

/** The memory with each of these numbers of clients. Stops the cluster. */
async function measured(name: string, up: Up, clients: Crowd, sizes: readonly number[]) {
  const found: { clients: number; open: number; mb: Memory }[] = []
  try {
    console.log(`${name.padEnd(14)}${shown.map((role) => `${role} MB`.padStart(12)).join('')}`)
    for (const size of sizes) {
      await clients.grow(size)
      await delay(settleMs)
      const mb = memoryOf(up)
      found.push({ clients: size, open: clients.open, mb })
      const cells = shown.map((role) => `${mb[role] ?? '-'}`.padStart(12)).join('')
      console.log(`${`${size}`.padEnd(14)}${cells}   ${clients.open} open`)
    }
  } finally {
    clients.leave()
    await up.stop()
  }
  return found
}

function memoryOf(up: Up): Memory {
  const mb: Memory = {}
  for (const each of up.processes()) {
    const role = each.command.includes(' --supervised') ? 'brain' : roleOf(each, up.pid)
    mb[role] = Math.max(mb[role] ?? 0, Math.round(rssMbOf(each.pid)))
  }
  return mb
}

/** A small file system of its own for the data folder of a cluster, which can be filled up. Linux only. */

import { spawnSync } from 'node:child_process'
import { closeSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { Up } from '../../test/support/hostile/up.ts'

const folder = '.plimsoll'
const script = `mkdir -p ${folder} && mount -t tmpfs -o size=256m tmpfs ${folder} && exec "$@"`

/** A command that ends by running its arguments with a tmpfs as data folder; undefined where none can be mounted. */
export function smallDisk(): string[] | undefined {
  for (const flags of [['-m'], ['-r', '-m']]) {
    const command = ['unshare', ...flags, '--propagation', 'private', 'sh', '-c']
    const [program, ...args] = command as [string, ...string[]]
    if (spawnSync(program, [...args, 'mount -t tmpfs tmpfs /mnt']).status === 0)
      return [...command, script, 'sh']
  }
  return undefined
}

/** Fills the data folder of a cluster that runs on a small disk. The result makes room again. */
export function fillDisk(up: Up): () => void {
  // The mount is visible only inside of its namespace.
  const file = join('/proc', `${up.pid}`, 'cwd', folder, 'filler')
  const descriptor = openSync(file, 'w')
  try {
    for (let bytes = 2 ** 20; bytes >= 512; bytes /= 2) fillWith(descriptor, Buffer.alloc(bytes))
  } finally {
    closeSync(descriptor)
  }
  return () => rmSync(file, { force: true })
}

/** Until no such block has room. */
function fillWith(descriptor: number, block: Buffer): void {
  try {
    for (;;) if (writeSync(descriptor, block) < block.length) return
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
  }
}

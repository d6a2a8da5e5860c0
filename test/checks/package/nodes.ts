/** The versions of Node that the package is tried with. */

import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { npm, run } from './run.ts'

export interface NodeProgram {
  version: string
  path: string
}

export const projectNode: NodeProgram = { version: process.versions.node, path: process.execPath }

/** The newest published Node, from npm. Rejects if npm does not deliver it. */
export async function newestNode(folder: string): Promise<NodeProgram> {
  const place = { cwd: folder, node: process.execPath }
  const { stdout } = await run(place, npm('view', 'node', 'version'))
  return install(folder, stdout.trim())
}

/** A Node that is too old: one on this machine, or else one from npm. */
export async function oldNode(folder: string): Promise<NodeProgram> {
  for (const each of (process.env.PATH ?? '').split(delimiter)) {
    const path = join(each, 'node')
    if (!existsSync(path)) continue
    const version = execFileSync(path, ['-p', 'process.versions.node'], { encoding: 'utf8' }).trim()
    if (Number.parseInt(version, 10) < 24) return { version, path }
  }
  return install(folder, '20')
}

async function install(folder: string, wanted: string): Promise<NodeProgram> {
  const name = `node-${process.platform}-${process.arch}`
  const into = join(folder, `node-${wanted}`)
  const place = { cwd: folder, node: process.execPath }
  await run(place, npm('install', '--no-save', '--no-package-lock', '--prefix', into, `${name}@${wanted}`))
  const path = join(into, 'node_modules', name, 'bin', 'node')
  const version = execFileSync(path, ['-p', 'process.versions.node'], { encoding: 'utf8' }).trim()
  return { version, path }
}

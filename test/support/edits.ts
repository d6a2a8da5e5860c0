/** Projects whose code is edited while `plimsoll up --watch` serves it: a workload, and an existing server. */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { cli } from './live.ts'

export interface Project {
  kind: 'workload' | 'server'
  folder: string
  /** Options of `up`. */
  options: string[]
  /** Writes the version that answers with this text. */
  write(text: string): void
  /** Writes a version that does not load, for each reason of its kind. */
  breakIt: Readonly<Record<string, () => void>>
  remove(): void
}

function folderOf(files: Record<string, string>) {
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-edits-'))
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text)
  mkdirSync(join(folder, 'lib'))
  for (const [name, text] of Object.entries(files)) write(name, text)
  return { folder, write, remove: () => rmSync(folder, { recursive: true, force: true }) }
}

/** The answer stands in a module that the workload imports. */
export function workloadProject(): Project {
  const main = `import { text } from './lib/text.ts'
export default { name: 'work', description: '', run: (): string => text }\n`
  const { folder, write, remove } = folderOf({ 'work.ts': main })
  const module = (text: string) => write('lib/text.ts', `export const text: string = '${text}'\n`)
  const broken = (code: string) => () => write('lib/text.ts', code)
  module('v0')
  return {
    ...{ kind: 'workload', folder, remove, write: module },
    options: ['--workloads', join(folder, 'work.ts')],
    breakIt: {
      'syntax error': broken("export const text: string = 'v'; syntax error here\n"),
      'throws at load': broken(
        "export const text: string = fail()\nfunction fail(): string { throw new Error('no luck') }\n",
      ),
      'exits at load': broken("export const text = 'v'\nconsole.error('giving up')\nprocess.exit(3)\n"),
    },
  }
}

/** A Node server of two files; only the first is named in the command. */
export function serverProject(): Project {
  const main = `import { createServer } from 'node:http'
import { text } from './lib/text.mjs'
createServer((_, response) => response.end(text)).listen(Number(process.argv[2]), '127.0.0.1')\n`
  const { folder, write, remove } = folderOf({ 'server.mjs': main })
  const module = (text: string) => write('lib/text.mjs', `export const text = '${text}'\n`)
  const broken = (code: string) => () => write('lib/text.mjs', code)
  module('v0')
  write(
    'plimsoll.config.json',
    JSON.stringify({ workers: { command: ['node', 'server.mjs', '{port}'], startMs: 20_000 } }),
  )
  return {
    ...{ kind: 'server', folder, remove, write: module },
    options: ['--config', join(folder, 'plimsoll.config.json')],
    breakIt: {
      'syntax error': broken("export const text = 'v'; syntax error here\n"),
      'throws at load': broken(
        "export const text = fail()\nfunction fail() { throw new Error('no luck') }\n",
      ),
      'exits at once': broken("export const text = 'v'\nconsole.error('giving up')\nprocess.exit(3)\n"),
    },
  }
}

export interface RunningUp {
  url: string
  adminUrl: string
  /** Its data folder. */
  data: string
  lines: string[]
  process: ChildProcess
  stop(): Promise<void>
}

/** `plimsoll up`, ready to serve. */
export async function startUp(
  project: Project,
  workers: number,
  options: readonly string[],
): Promise<RunningUp> {
  const data = join(project.folder, '.plimsoll')
  const ports = ['--port', '0', '--admin-port', '0', '--min', `${workers}`, '--max', `${workers}`]
  const args = [cli, 'up', ...project.options, ...ports, '--data', data, ...options]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'], cwd: project.folder })
  const lines: string[] = []
  const found = { requests: '', admin: '' }
  const ready = Promise.withResolvers<void>()
  for (const output of [child.stdout, child.stderr]) {
    createInterface({ input: output }).on('line', (line) => {
      lines.push(line)
      const [, key, url] = /^ {2}(requests|admin) +(http:\/\/[^/]+)/.exec(line) ?? []
      if (key) found[key as keyof typeof found] = url!
      if (line.includes('Ctrl-C')) ready.resolve()
    })
  }
  child.once('exit', () => ready.reject(new Error(`up has ended: ${lines.join('\n')}`)))
  await ready.promise
  return {
    url: found.requests,
    adminUrl: found.admin,
    data,
    lines,
    process: child,
    async stop() {
      const exited = once(child, 'exit')
      if (child.kill('SIGTERM')) await exited
    },
  }
}

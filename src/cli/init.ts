/** Writes a first configuration, with a workload or for an existing server. */

import { mkdirSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, relative, resolve } from 'node:path'
import { checkConfig } from '../config/check.ts'
import { findConfig } from '../config/load.ts'
import { ConfigError } from '../lib/errors.ts'
import { type Command, readOptions } from './options.ts'
import { type Ask, askOnTerminal } from './terminal/terminal-questions.ts'

const options = {
  ownServer: { type: 'flag', help: 'configure an existing HTTP server, in any language' },
  command: {
    type: 'text',
    help: 'command that starts it, with {port} or {socket} where it is to listen',
    value: 'TEXT',
  },
  health: {
    type: 'text',
    help: "its health path, which must answer 200; '': an open connection is enough",
    value: 'PATH',
  },
  concurrency: {
    type: 'integer',
    help: 'concurrent requests per process; 0: ask, or 1',
    default: 0,
    min: 0,
    max: 10_000,
  },
} as const

interface ServerAnswers {
  command: string
  health: string
  concurrency: number
}

/** A first configuration. */
export const init: Command = {
  summary: 'Write a first configuration, with a workload or for an existing server.',
  usage: '[FOLDER] [--own-server [--command TEXT --health PATH]]',
  options,
  async run(args) {
    const { values, rest } = readOptions(args, options)
    const [given = '.', ...others] = rest
    if (others.length > 0) throw new ConfigError(`init: unexpected ${others.join(' ')}`)
    const folder = resolve(given)
    const existing = findConfig(folder)
    if (existing) throw new ConfigError(`${relative('.', existing)}: already exists; nothing was written`)
    if (!values.ownServer) {
      const stray = (['command', 'health'] as const).find((name) => values[name] !== undefined)
      if (stray) throw new ConfigError(`--${stray}: requires --own-server`)
      write(folder, given, { 'plimsoll.config.ts': workloadConfig(folder), 'workloads/hello.ts': hello })
      console.log(`Then:  plimsoll up, and  curl 'localhost:8080/hello?steps=1000000'`)
      return 0
    }
    const answers = await askOnTerminal((ask) => serverAnswers(values, ask))
    write(folder, given, { 'plimsoll.config.ts': serverConfig(folder, answers) })
    console.log("Then:  plimsoll up, and send it requests: curl 'localhost:8080/…'")
    return 0
  },
}

interface Given {
  command: string | undefined
  health: string | undefined
  concurrency: number
}

/** Asks for what the flags do not give. Without a terminal, only the command is required. */
async function serverAnswers(given: Given, ask: Ask | undefined): Promise<ServerAnswers> {
  if (!ask && given.command === undefined) {
    throw new ConfigError(
      "--command: how is your server started? For example --command 'python3 app.py --port {port}'",
    )
  }
  const command =
    given.command ??
    (await ask!('How is your server started? Write {port} where its port belongs.', {
      example: 'python3 app.py --port {port}',
      check: (text) => check({ command: text }),
    }))
  check({ command })
  const health =
    given.health ??
    (await ask?.('What is its health path, which answers 200?', {
      byDefault: '',
      shown: 'none: an open connection is enough',
      check: (text) => check({ command, health: text }),
    })) ??
    ''
  check({ command, health })
  const concurrency =
    given.concurrency ||
    Number(
      (await ask?.('How many concurrent requests does one process accept? With 1, requests can be paused.', {
        byDefault: '1',
        check: (text) => check({ command, health, concurrency: Number(text) }),
      })) ?? 1,
    )
  return { command, health, concurrency }
}

/** Throws a `ConfigError` that says what is wrong. */
function check({ command = '', health = '', concurrency = 1 }: Partial<ServerAnswers>): void {
  checkConfig({ workers: { command, ...(health && { health }), concurrency } }, '.')
}

function write(folder: string, given: string, files: Record<string, string>): void {
  for (const [name, text] of Object.entries(files)) {
    const path = join(folder, name)
    try {
      mkdirSync(join(path, '..'), { recursive: true })
      writeFileSync(path, text, { flag: 'wx' })
    } catch (error) {
      throw new ConfigError(
        `${join(given, name)}: cannot be written (${(error as NodeJS.ErrnoException).code})`,
      )
    }
    console.log(`Wrote ${join(given, name)}.`)
  }
}

/** Adds types for editors if the package can be resolved. */
function wrapped(folder: string, body: string): string {
  try {
    createRequire(join(folder, 'plimsoll.config.ts')).resolve('plimsoll')
    return `import { defineConfig } from 'plimsoll'\n\nexport default defineConfig(${body})\n`
  } catch {
    return `export default ${body}\n`
  }
}

function serverConfig(folder: string, { command, health, concurrency }: ServerAnswers): string {
  const lines = [
    `command: ${quoted(command)},`,
    ...(health ? [`health: ${quoted(health)},`] : []),
    `concurrency: ${concurrency},`,
  ]
  return wrapped(
    folder,
    `{
  workers: {
    ${lines.join('\n    ')}
  },
  // Costs are learned per route. Its features are what the cost depends on, for example
  // features: { width: 'query.width', bytes: 'body.bytes' }; without them, path, query and body count.
  routes: [{ name: 'server', path: '/**' }],
}`,
  )
}

function workloadConfig(folder: string): string {
  return wrapped(folder, "{\n  workloads: 'workloads',\n}")
}

const hello = `/** A first workload: what it returns is the answer, and what it does is metered and learned. */
export default {
  name: 'hello',
  description: 'Adds up the numbers below steps.',
  run({ steps }: { steps?: string | number }) {
    const most = Number(steps ?? 1000)
    let sum = 0
    for (let i = 0; i < most; i++) sum += i
    return { hello: 'world', steps: most, sum }
  },
}
`

function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
}

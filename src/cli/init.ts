/** Writes a first configuration, with a workload or for an existing server. */

import { mkdirSync, writeFileSync } from 'node:fs'
import { extname, join, relative, resolve } from 'node:path'
import { checkConfig } from '../config/check.ts'
import { findConfig } from '../config/load.ts'
import { ConfigError } from '../lib/errors.ts'
import { helloWorkload, placeOf, type ServerAnswers, serverConfig, workloadConfig } from './init-files.ts'
import { type Command, readOptions } from './options.ts'
import { type Ask, askOnTerminal } from './terminal/terminal-questions.ts'

const options = {
  ownServer: { type: 'flag', help: 'configure an existing HTTP server, in any language' },
  command: {
    type: 'text',
    help: 'command that starts it, with {port} or {socket} where it is to listen; without them it must listen on the port in PORT',
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
    const place = placeOf(folder)
    const config = `plimsoll.config${place.end}`
    const up = upCommand(given, config)
    if (!values.ownServer) {
      const stray = (['command', 'health'] as const).find((name) => values[name] !== undefined)
      if (stray) throw new ConfigError(`--${stray}: requires --own-server`)
      write(folder, given, {
        [config]: workloadConfig(place),
        [`workloads/hello${place.end}`]: helloWorkload(place),
      })
      console.log(`Then:  ${up}\nand:   curl 'localhost:8080/hello?steps=1000000'`)
      return 0
    }
    const answers = await askOnTerminal((ask) => serverAnswers(values, ask))
    write(folder, given, { [config]: serverConfig(place, answers) })
    console.log(`Then:  ${up}\nand send it requests: curl 'localhost:8080/…'`)
    return 0
  },
}

/** The command that starts a cluster with this configuration from the current folder. */
function upCommand(given: string, config: string): string {
  const inRepository = extname(import.meta.url) === '.ts'
  const up = inRepository ? 'npm run -s plimsoll -- up' : 'npx plimsoll up'
  return resolve(given) === resolve() ? up : `${up} --config ${join(given, config)}`
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
    (await ask!(
      'How is your server started? Write {port} where its port belongs, unless it reads the variable PORT.',
      {
        example: 'python3 app.py --port {port}',
        check: (text) => check({ command: text }),
      },
    ))
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

/** Throws a `ConfigError` that says what is wrong, in the words of the flags. */
function check({ command = '', health = '', concurrency = 1 }: Partial<ServerAnswers>): void {
  try {
    checkConfig({ workers: { command, ...(health && { health }), concurrency } }, '.')
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    throw new ConfigError(error.message.replace(/^workers\./, '--'), { cause: error })
  }
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

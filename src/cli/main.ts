#!/usr/bin/env node
/** The command line: finds the command, runs it, and turns errors into a message and an exit code. */

import { readFileSync } from 'node:fs'
import { ConfigError, PlimsollError } from '../errors.ts'
import { compare } from './compare.ts'
import { demo } from './demo.ts'
import { estimate } from './estimate.ts'
import { functionCommand } from './function.ts'
import { init } from './init.ts'
import { type Command, helpPage } from './options.ts'
import { presets } from './presets.ts'
import { replay } from './replay.ts'
import { request } from './request.ts'
import { simulate } from './simulate.ts'
import { status } from './status.ts'
import { up } from './up.ts'
import { why } from './why.ts'
import { worker } from './worker.ts'
import { workloads } from './workloads.ts'

const commands: Readonly<Record<string, Command>> = {
  up,
  worker,
  function: functionCommand,
  request,
  estimate,
  why,
  status,
  workloads,
  presets,
  init,
  demo,
  simulate,
  compare,
  replay,
}

async function main(args: string[]): Promise<number> {
  const [name = '', ...rest] = args
  if (name === '--version' || rest.includes('--version')) {
    const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
    console.log(version)
    return 0
  }
  if (name === '' || name === '--help' || name === '-h' || name === 'help') {
    console.log(overview())
    return name === '' ? 2 : 0
  }
  const command = Object.hasOwn(commands, name) ? commands[name]! : undefined
  if (!command) throw new ConfigError(`command = ${name}: must be one of ${Object.keys(commands).join(', ')}`)
  if (rest.includes('--help') || rest.includes('-h')) {
    console.log(helpPage(name, command))
    return 0
  }
  return command.run(rest)
}

function overview(): string {
  const width = Math.max(...Object.keys(commands).map((name) => name.length))
  const lines = Object.entries(commands).map(([name, { summary }]) => `  ${name.padEnd(width)}  ${summary}`)
  return (
    'Plimsoll: a load balancer and autoscaler that knows what each request will cost.\n\n' +
    `Usage: plimsoll COMMAND [options]\n\n${lines.join('\n')}\n\nplimsoll COMMAND --help tells more. --version prints the version.`
  )
}

// Whoever read the output, for example `head`, has had enough.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
  process.exit()
})

try {
  process.exitCode = await main(process.argv.slice(2))
} catch (error) {
  if (!(error instanceof PlimsollError)) throw error
  console.error(`plimsoll: ${error.message}`)
  process.exitCode = 2
}

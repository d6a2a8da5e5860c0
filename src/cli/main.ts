/** The command line: finds the command, runs it, and turns errors into a message and an exit code. */

import { createRequire } from 'node:module'
import { causeStack } from '../lib/cause-stack.ts'
import { didYouMean } from '../lib/did-you-mean.ts'
import { ConfigError, PlimsollError, stackOf, UnknownOption } from '../lib/errors.ts'
import type { Command } from './options.ts'
import { fitted } from './terminal/width.ts'

/** Exit code after an unexpected error. */
const internalError = 70

/** Commands are loaded on demand: loading all of them takes longer than running most of them. */
const commands: Readonly<Record<string, () => Promise<Command>>> = {
  up: async () => (await import('./up.ts')).up,
  worker: async () => (await import('./worker.ts')).worker,
  front: async () => (await import('./front.ts')).front,
  keeper: async () => (await import('./keeper.ts')).keeper,
  function: async () => (await import('./function.ts')).functionCommand,
  request: async () => (await import('./request.ts')).request,
  jobs: async () => (await import('./jobs.ts')).jobs,
  estimate: async () => (await import('./estimate.ts')).estimate,
  why: async () => (await import('./why.ts')).why,
  status: async () => (await import('./status.ts')).status,
  learn: async () => (await import('./learn.ts')).learn,
  restart: async () => (await import('./restart.ts')).restart,
  workloads: async () => (await import('./workloads.ts')).workloads,
  presets: async () => (await import('./presets.ts')).presets,
  rows: async () => (await import('./rows.ts')).rows,
  init: async () => (await import('./init.ts')).init,
  demo: async () => (await import('./demo.ts')).demo,
  calibrate: async () => (await import('./calibrate.ts')).calibrate,
  simulate: async () => (await import('./simulate.ts')).simulate,
  compare: async () => (await import('./compare.ts')).compare,
  replay: async () => (await import('./replay.ts')).replay,
}

async function main(args: string[]): Promise<number> {
  const [name = '', ...rest] = args
  if (name === '--version' || rest.includes('--version')) {
    const { version } = createRequire(import.meta.url)('plimsoll/package.json')
    console.log(version)
    return 0
  }
  const asksForHelp = name === '--help' || name === '-h' || name === 'help'
  if (name === '' || (asksForHelp && rest.length === 0)) {
    console.log(await overview())
    return name === '' ? 2 : 0
  }
  if (asksForHelp) return main([...rest.slice(0, 1), '--help'])
  const load = Object.hasOwn(commands, name) ? commands[name]! : undefined
  if (!load) throw unknownCommand(name)
  const command = await load()
  if (rest.includes('--help') || rest.includes('-h')) {
    const { helpPage } = await import('./options.ts')
    console.log(helpPage(name, command))
    return 0
  }
  return command.run(rest)
}

function unknownCommand(name: string): ConfigError {
  const names = Object.keys(commands)
  return new ConfigError(
    `there is no command ${name}${didYouMean(name, [...names, 'help'])}\nCommands are: ${names.join(', ')}`,
  )
}

async function overview(): Promise<string> {
  const width = Math.max(...Object.keys(commands).map((name) => name.length))
  const all = Object.entries(commands).map(async ([name, load]) => {
    const { summary } = await load()
    return `  ${name.padEnd(width)}  ${fitted(summary, width + 4)}`
  })
  const lines = await Promise.all(all)
  return (
    'Plimsoll: a load balancer and autoscaler that knows what each request will cost.\n\n' +
    `Usage: plimsoll COMMAND [options]\n\n${lines.join('\n')}\n\nplimsoll help COMMAND describes its options. --version prints the version.`
  )
}

// Node prefers FORCE_COLOR and prints a warning about the other, in each of the processes that a command starts.
if (process.env.NO_COLOR) delete process.env.FORCE_COLOR

/** They run until they are stopped, whether or not somebody reads what they print. */
const serves = ['up', 'worker', 'front', 'keeper', 'function'].includes(process.argv[2] ?? '')

// The reader of the output, for example `head`, has closed the pipe, or the disk that holds it is full.
for (const output of [process.stdout, process.stderr]) {
  output.on('error', (error: NodeJS.ErrnoException) => {
    if (serves) return
    if (error.code !== 'EPIPE') throw error
    process.exit()
  })
}

// The state of a process after an unexpected error is unknown, so it ends: its supervisor starts it again.
process.on('uncaughtException', (error) => {
  console.error(`plimsoll: internal error: ${error instanceof Error ? error.message : String(error)}`)
  console.error(stackOf(error))
  process.exit(internalError)
})

try {
  process.exitCode = await main(process.argv.slice(2))
} catch (error) {
  if (!(error instanceof PlimsollError)) throw error
  console.error(`plimsoll: ${error.message}`)
  if (error instanceof UnknownOption) console.error(`plimsoll ${process.argv[2]} --help lists its options.`)
  const stack = causeStack(error)
  if (stack !== '') console.error(stack)
  process.exitCode = 2
}

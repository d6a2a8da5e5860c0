import { resolve } from 'node:path'
import { ConfigError } from '../lib/errors.ts'
import { runFunction } from '../live/functions/run-function.ts'
import { meterExtrasOption, meterFrom, meterOptions } from './meter.ts'
import { type Command, readOptions } from './options.ts'
import { bundledWorkloads, workloadFiles } from './workload-files.ts'

const options = {
  workloads: {
    help: 'modules or folders with workloads, separated by commas; default: those that come along',
    default: undefined,
    value: 'PATHS',
  },
  only: { help: 'the one workload that it runs; default: all', default: undefined, value: 'NAME' },
  memory: { help: 'memory for its job, in MB', default: 512, min: 96, whole: true },
  ...meterOptions,
  ...meterExtrasOption,
  data: { help: 'folder for what workloads keep', default: '.plimsoll', value: 'DIR' },
} as const

/** One function. The cluster starts it where jobs overflow. */
export const functionCommand: Command = {
  summary: 'Run one job at a time for a cluster that started this as a function.',
  usage: '[options]',
  options,
  async run(args) {
    const { values, rest } = readOptions(args, options)
    if (rest.length > 0) throw new ConfigError(`function: unexpected ${rest.join(' ')}`)
    const token = process.env.PLIMSOLL_TOKEN
    if (!token) throw new ConfigError('function: PLIMSOLL_TOKEN must be set; a cluster with --functions does')
    const stop = new AbortController()
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => stop.abort())
    // Whoever started it holds the other end, and is gone when that closes.
    process.stdin.on('end', () => stop.abort()).on('error', () => stop.abort())
    process.stdin.resume()
    await runFunction(
      {
        files: workloadFiles(values.workloads ?? bundledWorkloads),
        only: values.only,
        token,
        memoryMb: values.memory,
        meter: meterFrom(values),
        dataDir: resolve(values.data),
        log: (line) => console.error(line),
      },
      (port) => console.log(JSON.stringify({ port })),
      stop.signal,
    )
    process.stdin.destroy()
    return 0
  },
}

import { resolve } from 'node:path'
import { commonOptions, meterOptions } from '../config/cluster-options.ts'
import { jobOptions } from '../config/job-options.ts'
import type { OptionSpecs } from '../config/option.ts'
import { passEnvFrom } from '../config/pass-env.ts'
import { runFunction } from '../live/functions/run-function.ts'
import { readToken } from '../live/tokens.ts'
import { meterExtrasOption, meterFrom } from './cluster/meter.ts'
import { bundledWorkloads, workloadFiles } from './cluster/workload-files.ts'
import { type Command, readOnlyOptions } from './options.ts'

const options = {
  workloads: commonOptions.workloads,
  only: { type: 'text', help: 'the only workload that it runs; default: all' },
  memory: { type: 'integer', help: 'memory for its job, in MB', default: 512, min: 96, value: 'MB' },
  ...meterOptions,
  ...meterExtrasOption,
  data: { ...commonOptions.data, help: 'folder for the files of workloads' },
  passEnv: jobOptions.passEnv,
} as const satisfies OptionSpecs

/** One function. The cluster starts it for jobs that overflow. */
export const functionCommand: Command = {
  summary: 'Run one job at a time for the cluster that started this process as a function.',
  usage: '[options]',
  options,
  async run(args) {
    const values = readOnlyOptions('function', args, options)
    // The cluster that starts this process writes it there.
    const token = readToken('-', 'standard input')
    const stop = new AbortController()
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => stop.abort())
    // The parent process holds the other end, which closes when that process ends.
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
        passEnv: passEnvFrom(values.passEnv),
        log: (line) => console.error(line),
      },
      (port) => console.log(JSON.stringify({ port })),
      stop.signal,
    )
    process.stdin.destroy()
    return 0
  },
}

/** Reads a trace, in the named format or in the one that its first line shows. */

import { ConfigError } from '../../lib/errors.ts'
import { azureFunctions } from './azure-functions.ts'
import { azureLlm } from './azure-llm.ts'
import { eventLog } from './event-log.ts'
import { eachLine, type NamedFile, wrong } from './lines.ts'
import type { Trace, TraceFormat, TraceOptions, TraceReader } from './trace.ts'
import { worldCup } from './world-cup.ts'

export const traceFormats: readonly TraceFormat[] = [worldCup, azureLlm, azureFunctions, eventLog]

/**
 * Typical of models with tens of billions of parameters on one accelerator. The cost of tokens depends on model and
 * machine, and batches are not modelled; with `--load`, only the ratio of the two matters.
 */
export const usualTokenMs = [0.1, 30] as const

export interface ReadOptions extends Partial<TraceOptions> {
  /** The format's name. Undefined: recognised by the first line. */
  format?: string | undefined
}

export async function readTrace(file: NamedFile, options: ReadOptions = {}): Promise<Trace> {
  const named = options.format === undefined ? undefined : formatNamed(options.format)
  let format: TraceFormat | undefined
  let reader: TraceReader | undefined
  let rows = 0
  await eachLine(file, (line, number) => {
    if (line === '') return
    if (reader) {
      rows++
      return void reader.line(line, number)
    }
    format = named ?? traceFormats.find((candidate) => candidate.recognises(line))
    if (!format) throw wrong(file, number, line, `the header of a trace: ${headers()}`)
    reader = format.begin(line, file, { tokenMs: options.tokenMs ?? usualTokenMs })
  })
  if (!format || !reader)
    throw new ConfigError(`${file.option} = ${file.path}: is empty, must be a trace: ${headers()}`)
  const read = reader.end()
  if (read.recorded.atMs.length === 0) {
    const what = rows === 0 ? 'nothing follows its header' : 'no job arrives in it'
    throw new ConfigError(`${file.option} = ${file.path}: holds no traffic (${what})`)
  }
  const beginsMs = read.dated ? read.recorded.atMs[0]! : 0
  return { name: file.path, format: format.name, beginsMs, ...read }
}

/** True: the file begins with the header of a trace. */
export async function looksLikeTrace(file: NamedFile): Promise<boolean> {
  let found = false
  await eachLine(file, (line) => {
    if (line === '') return
    found = traceFormats.some((format) => format.recognises(line))
    return false
  })
  return found
}

function formatNamed(name: string): TraceFormat {
  const format = traceFormats.find((candidate) => candidate.name === name)
  if (format) return format
  throw new ConfigError(
    `--trace-format = ${name}: must be one of ${traceFormats.map((candidate) => candidate.name).join(', ')}`,
  )
}

function headers(): string {
  return traceFormats.map(({ name, header }) => `${header} (${name})`).join(', or ')
}

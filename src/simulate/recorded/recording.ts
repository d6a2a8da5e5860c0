/**
 * Requests of the workloads with their metered work, recorded by `npm run -s requests`: `workloads/NAME.requests.json`. A
 * file is a table, so that it stays small: one line for each request, with a column for each parameter and feature.
 */

import { readFileSync } from 'node:fs'
import type { Features } from '../../model/estimate.ts'
import type { Quantities } from '../../model/metering.ts'

export interface RecordedRequest {
  /** As parsed by the workload's schema. */
  params: Record<string, unknown>
  features: Features
  /** Metered as the preset does; so are `quantities`, if it has any. */
  work: number
  quantities?: Quantities
}

export interface Recording {
  workload: string
  /** The preset whose meter counted. */
  preset: string
  /** Of the stream. */
  seed: number
  /** Hash of the code, and of how it was metered. */
  code: string
  /** In the order of the stream that they were drawn from. */
  requests: RecordedRequest[]
}

/** Increase with every change of the file's layout. */
const version = 1

interface File extends Omit<Recording, 'requests'> {
  version: number
  columns: { quantities: string[]; params: string[]; features: string[] }
  /** Work or its quantities, parameters and features; null: the request does not have it. */
  rows: unknown[][]
}

export function recordingText({ requests, ...facts }: Recording): string {
  const namesOf = (field: 'quantities' | 'params' | 'features') => [
    ...new Set(requests.flatMap((request) => Object.keys(request[field] ?? {}))),
  ]
  const columns = {
    quantities: namesOf('quantities'),
    params: namesOf('params'),
    features: namesOf('features'),
  }
  const rows = requests.map(({ work, quantities, params, features }) =>
    JSON.stringify([
      ...(quantities ? columns.quantities.map((name) => quantities[name] ?? null) : [work]),
      ...columns.params.map((name) => params[name] ?? null),
      ...columns.features.map((name) => features[name] ?? null),
    ]),
  )
  const head = JSON.stringify({ version, ...facts, columns }).slice(0, -1)
  return `${head},"rows":[\n${rows.join(',\n')}\n]}\n`
}

/** Throws if the text is not a recording of this version. */
export function readRecording(text: string): Recording {
  const { version: written, columns, rows, ...facts } = JSON.parse(text) as File
  if (written !== version)
    throw new Error(`recording of ${facts.workload}: version ${written}, not ${version}`)
  const amounts = Math.max(1, columns.quantities.length)
  const requests = rows.map((row) => {
    const first = row.slice(0, amounts) as number[]
    const work = first.reduce((sum, amount) => sum + amount, 0)
    const params = present(columns.params, row, amounts)
    const features = present(columns.features, row, amounts + columns.params.length) as Features
    const quantities = columns.quantities.length > 0 && present(columns.quantities, row, 0)
    return { work, params, features, ...(quantities && { quantities: quantities as Quantities }) }
  })
  return { ...facts, requests }
}

function present(names: readonly string[], row: readonly unknown[], from: number): Record<string, unknown> {
  const pairs = names.map((name, i) => [name, row[from + i]] as const)
  return Object.fromEntries(pairs.filter(([, value]) => value !== null && value !== undefined))
}

export function recordingFile(workload: string): URL {
  return new URL(`../../../workloads/${workload}.requests.json`, import.meta.url)
}

/** The recording that comes with a bundled workload. */
export function recordingOf(workload: string): Recording {
  return readRecording(readFileSync(recordingFile(workload), 'utf8'))
}

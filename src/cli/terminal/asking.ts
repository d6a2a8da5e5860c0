/** Shared by `request` and `estimate`: parameters from the command line, a body, and rejections as text. */

import { readFile } from 'node:fs/promises'
import { buffer } from 'node:stream/consumers'
import { styleText } from 'node:util'
import { ConfigError } from '../../lib/errors.ts'
import type { Client, Question } from './client.ts'
import { clusterUrlOptions } from './cluster-url.ts'
import { type Address, addressOf, listServed } from './served.ts'

export const askingOptions = {
  ...clusterUrlOptions,
  body: { type: 'text', help: 'send this file as the body; -: standard input', value: 'FILE' },
} as const

/** Reads the workload and its parameters from the arguments. */
export function readAsked(
  command: string,
  [workload, ...pairs]: string[],
): { workload: string; params: Record<string, string> } {
  if (workload === undefined) {
    throw new ConfigError(`${command}: name a workload; plimsoll workloads lists them`)
  }
  const found = new Map<string, string>()
  for (const pair of pairs) {
    const at = pair.indexOf('=')
    if (at < 1) throw new ConfigError(`${command}: ${pair}: must be name=value`)
    const name = pair.slice(0, at)
    if (found.has(name)) throw new ConfigError(`${command}: ${name}: given more than once`)
    found.set(name, pair.slice(at + 1))
  }
  return { workload, params: Object.fromEntries(found) }
}

/** Finds out how the cluster serves what is asked for, and addresses it. */
export async function questionFor(
  command: string,
  connection: Client,
  asked: { workload: string; params: Record<string, string> },
  body: string | undefined,
): Promise<AskedQuestion> {
  const content = body === undefined ? undefined : await bodyFrom(body)
  const address = addressOf(command, asked, await listServed(connection), content !== undefined)
  if (address.note !== undefined) console.error(`plimsoll: ${address.note}`)
  return questionOf(address, content)
}

export type AskedQuestion = Question & { headers: Record<string, string> }

/** With a body or for a route, parameters go into the query, else into a JSON body. */
function questionOf({ method, path, params, isRoute }: Address, body: Uint8Array | undefined): AskedQuestion {
  if (body === undefined && !isRoute) {
    const headers = { 'content-type': 'application/json' }
    return { method, path, headers, body: JSON.stringify(params) }
  }
  const query = new URLSearchParams(params).toString()
  const whole = query ? `${path}${path.includes('?') ? '&' : '?'}${query}` : path
  if (body === undefined) return { method, path: whole, headers: {} }
  const headers = { 'content-type': 'application/octet-stream' }
  return { method, path: whole, headers, body }
}

/** The question what this question would cost. */
export function quoteQuestion({ method, path, headers, ...question }: Question): Question {
  return {
    ...question,
    method: 'POST',
    path: `/-/estimate${path}`,
    headers: { ...headers, 'plimsoll-method': method },
  }
}

function bodyFrom(file: string): Promise<Uint8Array> {
  if (file === '-') return buffer(process.stdin)
  return readFile(file).catch((error: NodeJS.ErrnoException) => {
    throw new ConfigError(`--body = ${file}: cannot be read (${error.code})`)
  })
}

interface ProblemDocument {
  title?: string
  detail?: string
  errors?: { field?: string; value?: unknown; message: string }[]
}

/** A rejection as text, for stderr. */
export function problemText(status: number, body: string): string {
  let problem: ProblemDocument
  try {
    problem = JSON.parse(body)
  } catch {
    problem = { detail: body }
  }
  const { title = 'Error', detail, errors = [] } = problem
  const headline = styleText(['bold', 'red'], `${status} ${title}`, { stream: process.stderr })
  const fields = errors.map(({ field, message }) => `  ${field === undefined ? '' : `${field}: `}${message}`)
  // For wrong parameters, the detail repeats the field errors in one line.
  return [headline, ...(fields.length > 0 ? fields : detail ? [`  ${detail}`] : [])].join('\n')
}

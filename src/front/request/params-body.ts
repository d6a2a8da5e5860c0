/** Parameters in the body of a request: JSON, or a form. A body of any other type is data. */

import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import type { FrontLimits } from '../../wire/front-settings.ts'
import type { Workload } from '../../workload/workload.ts'
import { RequestProblem } from '../problem.ts'
import type { GivenParams } from './params.ts'

const formats = new Map([
  ['application/json', 'json'],
  ['application/x-www-form-urlencoded', 'form'],
] as const)

export type ParamsFormat = 'json' | 'form'

export const asData =
  "send a body that is data with -H 'content-type: application/octet-stream' or its own type"

/** The format of a body that holds parameters. Undefined: it is data. */
export function paramsFormat({ headers }: Pick<IncomingMessage, 'headers'>): ParamsFormat | undefined {
  const [type = ''] = (headers['content-type'] ?? '').split(';', 1)
  return formats.get(type.trim().toLowerCase() as 'application/json')
}

/** Largest query and body with parameters. */
export function mostParamsBytes(
  { maxParamsBytes }: Workload,
  { paramsBytes, maxBytes }: Pick<FrontLimits, 'paramsBytes' | 'maxBytes'>,
): number {
  return Math.min(maxParamsBytes ?? paramsBytes, maxBytes)
}

/** Throws a 400 if a form is binary data. */
export function givenParams(format: ParamsFormat, query: string, body: Uint8Array): GivenParams {
  return format === 'json' ? { query, json: body } : { query: withForm(query, body) }
}

/** A form's fields, after those of the query. */
function withForm(query: string, body: Uint8Array): string {
  if (isBinary(body)) throw binaryForm()
  const form = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8')
  return query === '' || form === '' ? query + form : `${query}&${form}`
}

/** Forms have no control characters besides line breaks and tabs, and are ASCII, or UTF-8 from careless clients. */
function isBinary(bytes: Uint8Array): boolean {
  return !isUtf8(bytes) || bytes.some((each) => (each < 0x20 && !lineBytes.has(each)) || each === 0x7f)
}

const lineBytes: ReadonlySet<number> = new Set([0x09, 0x0a, 0x0d])

function binaryForm(): RequestProblem {
  return new RequestProblem(
    400,
    'bad-parameters',
    `The body is said to be a form, but is binary data; ${asData}.`,
  )
}

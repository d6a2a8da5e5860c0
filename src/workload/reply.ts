/** `reply(…)`: an answer with its own status, content type or headers. */

/** Recognised by a symbol instead of its class, because a workload may have its own copy of this package. */
const mark = Symbol.for('plimsoll.reply')

/** What `reply` returns. */
export interface Reply<B = unknown> {
  readonly body: B
  readonly status?: number
  readonly contentType?: string
  readonly headers: Readonly<Record<string, string>>
}

/** Answers with a status, content type or headers other than the usual ones. */
export function reply<B>(
  body: B,
  options: { status?: number; contentType?: string; headers?: Record<string, string> } = {},
): Reply<B> {
  const { status, contentType, headers = {} } = options
  if (status !== undefined && !(Number.isInteger(status) && status >= 200 && status <= 599)) {
    throw new TypeError(`reply: status = ${status}: must be a whole number from 200 to 599`)
  }
  if (contentType !== undefined) checkHeader('content-type', contentType)
  for (const [name, value] of Object.entries(headers)) checkHeader(name, value)
  return Object.freeze({
    [mark]: true,
    body,
    ...(status !== undefined && { status }),
    ...(contentType !== undefined && { contentType }),
    headers,
  })
}

export function isReply(value: unknown): value is Reply {
  return typeof value === 'object' && value !== null && mark in value
}

function checkHeader(name: string, value: unknown): void {
  if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name)) {
    throw new TypeError(`reply: header ${JSON.stringify(name)}: not a header name`)
  }
  if (typeof value !== 'string' || !/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) {
    throw new TypeError(`reply: header ${name}: must be a string of one line of Latin-1 characters`)
  }
}

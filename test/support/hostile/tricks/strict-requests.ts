/**
 * Reads the bytes that a server behind a front received, more strictly than any server: what could be read in two ways is an
 * error.
 */

export interface StrictRequest {
  method: string
  target: string
  bodyBytes: number
}

const requestLine = /^([A-Z]+) (\/[\x21-\x7e\x80-\xff]*|\*) HTTP\/1\.1$/
const headerLine =
  /^([!#$%&'*+.^_`|~0-9A-Za-z-]+): ?([\x21-\x7e\x80-\xff](?:[\t\x20-\x7e\x80-\xff]*[\x21-\x7e\x80-\xff])?)?$/
const longestTrailers = 16 * 1024
const chunkLine = /^([0-9a-f]{1,8})$/i

/** `text`: latin1. An unfinished request at the end does not count. What follows an upgrade is not read. */
export function strictRequests(text: string): StrictRequest[] {
  const requests: StrictRequest[] = []
  for (let at = 0; at < text.length; ) {
    const headEnd = text.indexOf('\r\n\r\n', at)
    if (headEnd < 0) return requests
    const { method, target, length, isChunked, upgrades } = readHead(text.slice(at, headEnd))
    const bodyAt = headEnd + 4
    const body = isChunked ? readChunks(text, bodyAt) : { bytes: length, end: bodyAt + length }
    if (body === undefined || body.end > text.length) return requests
    requests.push({ method, target, bodyBytes: body.bytes })
    if (upgrades) return requests
    at = body.end
  }
  return requests
}

function readHead(head: string) {
  const [first = '', ...lines] = head.split('\r\n')
  const [, method = '', target = ''] = requestLine.exec(first) ?? fail(first)
  const fields = lines.map((line) => {
    const [, name = '', value = ''] = headerLine.exec(line) ?? fail(line)
    return { name: name.toLowerCase(), value }
  })
  const valuesOf = (wanted: string) => fields.filter(({ name }) => name === wanted).map(({ value }) => value)
  const [lengths, codings, hosts] = ['content-length', 'transfer-encoding', 'host'].map(valuesOf)
  if (lengths!.length + codings!.length > 1)
    fail(`a request with ${lengths!.length} lengths and ${codings!.length} codings`)
  if (hosts!.length !== 1) fail(`a request with ${hosts!.length} hosts`)
  const [length = '0'] = lengths!
  if (!/^\d{1,15}$/.test(length)) fail(`the length ${length}`)
  const isChunked = codings!.length === 1
  if (isChunked && codings![0] !== 'chunked') fail(`the coding ${codings![0]}`)
  return { method, target, length: Number(length), isChunked, upgrades: valuesOf('upgrade').length > 0 }
}

/** Undefined: they are not complete. */
function readChunks(text: string, start: number): { bytes: number; end: number } | undefined {
  let bytes = 0
  for (let at = start; ; ) {
    const lineEnd = text.indexOf('\r\n', at)
    if (lineEnd < 0) return undefined
    const [, digits = ''] = chunkLine.exec(text.slice(at, lineEnd)) ?? fail(text.slice(at, lineEnd))
    const size = Number.parseInt(digits, 16)
    if (size === 0) return readTrailers(text, lineEnd + 2, bytes)
    bytes += size
    at = lineEnd + 2 + size + 2
    if (at > text.length) return undefined
    if (!text.startsWith('\r\n', at - 2)) fail('a chunk without an end')
  }
}

function readTrailers(
  text: string,
  start: number,
  bytes: number,
): { bytes: number; end: number } | undefined {
  if (text.startsWith('\r\n', start)) return { bytes, end: start + 2 }
  const end = text.indexOf('\r\n\r\n', start)
  if (end < 0) return undefined
  if (end - start > longestTrailers) fail(`trailers of ${end - start} bytes`)
  for (const line of text.slice(start, end).split('\r\n')) if (!headerLine.test(line)) fail(line)
  return { bytes, end: end + 4 }
}

function fail(what: string): never {
  throw new Error(`ambiguous bytes: ${JSON.stringify(what.slice(0, 200))}`)
}

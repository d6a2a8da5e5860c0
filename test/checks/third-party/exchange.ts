/** Sends one request and returns its complete answer; compares two answers. */

import { Agent, type IncomingMessage, request } from 'node:http'

export interface Sent {
  method: string
  path: string
  headers?: Record<string, string>
  body?: Buffer
  /** The body is sent in chunks, without a length. */
  chunked?: boolean
}

export interface Exchanged {
  status: number
  message: string
  /** Alternating names and values, without hop-by-hop headers and headers that Plimsoll adds. */
  headers: string[]
  trailers: string[]
  body: Buffer
}

const agent = new Agent({ keepAlive: true })

/** Headers of the connection or of the request: `x-amz-*id` are drawn for each request. */
const ofOneHop = /^(connection|keep-alive|transfer-encoding|date|x-amz-request-id|x-amz-id-2)$/i
const added = /^(plimsoll-.*|server-timing)$/i

export function exchange(
  origin: string,
  { method, path, headers = {}, body, chunked }: Sent,
): Promise<Exchanged> {
  return new Promise((resolve, reject) => {
    const length = body && !chunked ? { 'content-length': `${body.length}` } : {}
    const { hostname, port } = new URL(origin)
    const options = {
      hostname,
      port,
      agent,
      method,
      path,
      headers: { host: 'localhost', ...headers, ...length },
    }
    const call = request(options, (response) => {
      receive(response).then(resolve, reject)
    })
    const receive = async (response: IncomingMessage): Promise<Exchanged> => {
      const chunks = await response.toArray().catch((error: Error) => {
        throw new Error(`${method} ${path} ${JSON.stringify(headers)} of ${origin}: ${error.message}`)
      })
      const { rawHeaders, rawTrailers, statusCode, statusMessage } = response
      return {
        status: statusCode ?? 0,
        message: statusMessage ?? '',
        headers: kept(rawHeaders),
        trailers: rawTrailers,
        body: Buffer.concat(chunks),
      }
    }
    call.on('error', reject)
    if (!body) call.end()
    else if (!chunked) call.end(body)
    else {
      for (let at = 0; at < body.length; at += 10_000) call.write(body.subarray(at, at + 10_000))
      call.end()
    }
  })
}

function kept(raw: string[]): string[] {
  return raw.filter((_, i) => {
    const name = raw[i - (i % 2)]!
    return !ofOneHop.test(name) && !added.test(name)
  })
}

/** Undefined: no difference. */
export function whatDiffers(one: Exchanged, other: Exchanged): string | undefined {
  const text = (value: Exchanged) =>
    `${value.status} ${value.message} ${JSON.stringify([value.headers, value.trailers])}`
  if (text(one) !== text(other)) return `${text(one)} is not ${text(other)}`
  if (withoutMoment(one.body).equals(withoutMoment(other.body))) return undefined
  return `bodies of ${one.body.length} and ${other.body.length} bytes differ`
}

/** Errors contain the request's id, and copies their timestamp. */
const ofTheMoment = /<RequestId>[^<]*|(?<=<CopyObjectResult.*)<LastModified>[^<]*/gs

function withoutMoment(body: Buffer): Buffer {
  if (body.length > 10_000) return body
  return Buffer.from(body.toString('latin1').replace(ofTheMoment, ''), 'latin1')
}

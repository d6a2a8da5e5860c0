/**
 * EC2 to test against: moto behind a proxy that adds what moto lacks. Client tokens make RunInstances idempotent, instances
 * are pending until they have booted, new ones are missing from lists for a while, user data runs as a real process, and
 * faults can be put between the SDK and moto.
 */

import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request,
  type Server,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { EC2Client, paginateDescribeInstances, TerminateInstancesCommand } from '@aws-sdk/client-ec2'
import { launchTag } from '../../../src/aws/ec2/sdk-api.ts'
import { errorOf, type Fault, Faults } from './faults.ts'
import { Instance } from './instance.ts'

interface Answer {
  status: number
  headers: IncomingHttpHeaders
  body: string
}

export interface StandInstance {
  id: string
  launch: string
  isAlive: boolean
}

export interface StandOptions {
  /** Address of moto. */
  moto: string
  /** From the launch to the start of the user data. */
  bootMs: number
  /** For this time, lists lack a new instance. */
  lagMs: number
}

export const region = 'eu-west-1'
/** For moto, any will do. */
export const credentials = { accessKeyId: 'check', secretAccessKey: 'check' }

export class Ec2Stand {
  readonly faults = new Faults()
  readonly #options: StandOptions
  readonly #server: Server
  readonly #instances = new Map<string, { instance: Instance; since: number }>()
  /** By client token. */
  readonly #launches = new Map<string, { body: string; answer: Promise<Answer> }>()
  readonly #folder = mkdtempSync(join(tmpdir(), 'plimsoll-ec2-'))
  readonly #client: EC2Client
  #isClosed = false

  constructor(options: StandOptions) {
    this.#options = options
    this.#client = new EC2Client({ endpoint: options.moto, region, credentials })
    this.#server = createServer((incoming, response) => {
      this.#handle(incoming, response).catch((error: Error) => {
        response.writeHead(500).end(error.message)
      })
    })
  }

  async open(): Promise<void> {
    await once(this.#server.listen(0, '127.0.0.1'), 'listening')
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** All that were ever launched, as moto lists them. */
  async list(): Promise<StandInstance[]> {
    const found: StandInstance[] = []
    for await (const { Reservations = [] } of paginateDescribeInstances({ client: this.#client }, {}))
      for (const { InstanceId, Tags = [], State } of Reservations.flatMap(
        ({ Instances = [] }) => Instances,
      )) {
        const launch = Tags.find(({ Key }) => Key === launchTag)?.Value ?? ''
        found.push({ id: InstanceId!, launch, isAlive: State?.Name !== 'terminated' })
      }
    return found
  }

  /** The machine fails: its processes are killed, and AWS terminates it. */
  async fail(id: string): Promise<void> {
    this.#instances.get(id)?.instance.end(true)
    await this.#terminated(id)
  }

  /** AWS announces the interruption of a spot instance, and terminates it after this time. */
  interrupt(id: string, inMs: number): void {
    this.#instances.get(id)?.instance.announceInterruption(inMs)
    setTimeout(() => void this.fail(id), inMs).unref()
  }

  async close(): Promise<void> {
    this.#isClosed = true
    for (const { instance } of this.#instances.values()) instance.end(true)
    this.#server.close()
    this.#server.closeAllConnections()
    this.#client.destroy()
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5 })
  }

  async #terminated(id: string): Promise<void> {
    if (this.#isClosed) return
    await this.#client.send(new TerminateInstancesCommand({ InstanceIds: [id] })).catch((error: Error) => {
      if (!this.#isClosed) throw error
    })
  }

  async #handle(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = (await buffer(incoming)).toString()
    const form = new URLSearchParams(body)
    const action = form.get('Action') ?? ''
    const isRepeated = this.#launches.has(form.get('ClientToken') ?? '')
    const fault = this.faults.take(action, form, isRepeated)
    if (fault?.code !== undefined) {
      const { status, body: text } = errorOf(fault.code)
      return void response.writeHead(status, { 'content-type': 'text/xml' }).end(text)
    }
    const answer = await this.#answer(incoming, { action, form, body })
    await this.#send(response, answer, fault)
  }

  async #send(response: ServerResponse, { status, headers, body }: Answer, fault?: Fault): Promise<void> {
    if (fault?.losesAnswer) return void response.destroy()
    await delay(fault?.answerAfterMs ?? 0)
    const { 'content-length': _, 'transfer-encoding': __, connection: ___, ...others } = headers
    response.writeHead(status, others).end(body)
  }

  async #answer(
    incoming: IncomingMessage,
    { action, form, body }: { action: string; form: URLSearchParams; body: string },
  ): Promise<Answer> {
    const token = form.get('ClientToken')
    if (action === 'RunInstances' && token !== null) return this.#run(incoming, { form, body, token })
    const answer = await this.#forward(incoming, body)
    if (action === 'TerminateInstances' && answer.status === 200) {
      for (const [key, id] of form)
        if (/^InstanceId\.\d+$/.test(key)) this.#instances.get(id)?.instance.end(false)
    }
    return action === 'DescribeInstances' ? { ...answer, body: this.#asSeen(answer.body) } : answer
  }

  /** The same token gives the same answer. */
  async #run(
    incoming: IncomingMessage,
    { form, body, token }: { form: URLSearchParams; body: string; token: string },
  ): Promise<Answer> {
    const known = this.#launches.get(token)
    if (known && known.body !== body) return { headers: {}, ...errorOf('IdempotentParameterMismatch') }
    if (known) return known.answer
    const answer = this.#forward(incoming, body)
    this.#launches.set(token, { body, answer })
    const { status, body: text } = await answer
    if (status !== 200) this.#launches.delete(token)
    else for (const [, id] of text.matchAll(/<instanceId>(i-[0-9a-f]+)</g)) this.#boot(id!, form)
    return answer
  }

  #boot(id: string, form: URLSearchParams): void {
    const instance = new Instance({
      ...{ id, folder: this.#folder, bootMs: this.#options.bootMs, userData: form.get('UserData') ?? '' },
      // The script ends with a shutdown, which terminates the instance.
      onEnd: () => void this.#terminated(id),
    })
    this.#instances.set(id, { instance, since: Date.now() })
  }

  /** A list as a client sees it: without the newest instances, and with booting ones as pending. */
  #asSeen(list: string): string {
    const item = /<item><reservationId>[\s\S]*?<\/item>\s*(?=<item><reservationId>|<\/reservationSet>)/g
    return list.replace(/>\s+</g, '><').replace(item, (text) => {
      const known = this.#instances.get(/<instanceId>(i-[0-9a-f]+)/.exec(text)?.[1] ?? '')
      if (!known) return text
      if (Date.now() - known.since < this.#options.lagMs) return ''
      if (!known.instance.isPending) return text
      return text.replace(/<code>16<\/code><name>running<\/name>/, '<code>0</code><name>pending</name>')
    })
  }

  #forward({ url, method, headers }: IncomingMessage, body: string): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const { 'accept-encoding': _, connection: __, ...others } = headers
      const target = new URL(url ?? '/', this.#options.moto)
      const sent = request(target, { method: method ?? 'POST', headers: others, agent: false }, (answer) => {
        buffer(answer).then(
          (bytes) => resolve({ status: answer.statusCode!, headers: answer.headers, body: bytes.toString() }),
          reject,
        )
      })
      sent.on('error', reject).end(body)
    })
  }
}

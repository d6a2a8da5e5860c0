/** A server that speaks the protocol of EC2, for tests of the SDK's side: forms in, XML out. */

import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { TestContext } from 'node:test'

export interface QueryServer {
  /** The calls so far. */
  calls: URLSearchParams[]
  /** Answers of the next calls, in order. */
  answers: { status?: number; body: string }[]
}

/** For the length of a test, the SDK of this process uses it. */
export async function startQueryServer(t: TestContext): Promise<QueryServer> {
  const served: QueryServer = { calls: [], answers: [] }
  const server = createServer(async (request, response) => {
    served.calls.push(new URLSearchParams(await text(request)))
    const { status = 200, body } = served.answers.shift() ?? { status: 500, body: '' }
    response.writeHead(status, { 'content-type': 'text/xml' }).end(body)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  withEnvironment(t, {
    AWS_ENDPOINT_URL_EC2: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
    AWS_REGION: 'eu-west-1',
  })
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  return served
}

/** No profile, role or file of this machine counts. */
export function withEnvironment(t: TestContext, values: Record<string, string>): void {
  const before = { ...process.env }
  for (const name of Object.keys(process.env)) if (name.startsWith('AWS_')) delete process.env[name]
  const nowhere = '/dev/null'
  Object.assign(process.env, {
    ...{ AWS_EC2_METADATA_DISABLED: 'true', AWS_CONFIG_FILE: nowhere, AWS_SHARED_CREDENTIALS_FILE: nowhere },
    ...values,
  })
  t.after(() => {
    for (const name of Object.keys(process.env)) if (name.startsWith('AWS_')) delete process.env[name]
    Object.assign(process.env, before)
  })
}

export function errorBody(code: string, message: string): string {
  return `<Response><Errors><Error><Code>${code}</Code><Message>${message}</Message></Error></Errors><RequestID>1</RequestID></Response>`
}

export function listBody(items: readonly string[], next?: string): string {
  const token = next === undefined ? '' : `<nextToken>${next}</nextToken>`
  const reservations = items.map((item) => `<item><instancesSet>${item}</instancesSet></item>`).join('')
  return `<DescribeInstancesResponse><reservationSet>${reservations}</reservationSet>${token}</DescribeInstancesResponse>`
}

export function machineXml(id: string, launch: string, state: string): string {
  const tags = `<item><key>plimsoll:launch</key><value>${launch}</value></item>`
  const reason = '<stateReason><code>c</code><message>because</message></stateReason>'
  return `<item><instanceId>${id}</instanceId><instanceState><name>${state}</name></instanceState><launchTime>2030-01-01T00:00:00.000Z</launchTime>${reason}<tagSet>${tags}</tagSet></item>`
}

/** A Lambda service for tests, to which the AWS SDK of this process connects. */

import type { TestContext } from 'node:test'
import { dispatchAttempt } from '../../src/front/transports/dispatch.ts'
import type { ClusterFunctions, ProviderParts } from '../../src/front/transports/function.ts'
import type { AttemptEnd } from '../../src/front/transports/transport.ts'
import { bodyOf } from '../../src/front/transports/worker-response.ts'
import { lambdaProvider } from '../../src/lambda/functions.ts'
import { type AttemptOutcome, headers } from '../../src/wire/messages.ts'
import { type LambdaStand, type StandFunction, startLambdaStand } from '../stands/lambda/service.ts'

export async function useLambda(
  t: Pick<TestContext, 'after'>,
  functions: Readonly<Record<string, StandFunction>>,
): Promise<LambdaStand> {
  const stand = await startLambdaStand(functions)
  t.after(() => stand.close())
  Object.assign(process.env, {
    AWS_ENDPOINT_URL_LAMBDA: stand.url,
    AWS_REGION: 'eu-central-1',
    AWS_ACCESS_KEY_ID: 'stand',
    AWS_SECRET_ACCESS_KEY: 'stand',
  })
  return stand
}

export interface Opened {
  functions: ClusterFunctions
  lines: string[]
}

export function openFunctions(
  t: Pick<TestContext, 'after'>,
  names: string,
  more: Partial<ProviderParts> = {},
): Opened {
  const lines: string[] = []
  const functions = lambdaProvider(names).open({
    id: 'function:lambda',
    limits: { concurrency: 2, memoryMb: 512, timeoutMs: 60_000, keepWarmMs: 60_000 },
    workPerSecond: 1_000_000,
    patienceMs: 60_000,
    token: 'secret',
    code: () => ({ echo: 'hash' }),
    log: (line) => lines.push(line),
    ...more,
  })
  t.after(() => functions.close())
  return { functions, lines }
}

export type Sent = AttemptEnd | { outcome: 'result'; body: string; fields: Record<string, unknown> }

/** Sends an attempt to a function as a front does. Rejects if the function is broken. */
export async function sendTo(
  functions: ClusterFunctions,
  workload: string,
  body: Buffer = Buffer.from('body'),
  head: Record<string, unknown> = {},
  signal = new AbortController().signal,
): Promise<Sent> {
  let sent: Sent | undefined
  const end = await functions.invoke(workload, signal, async (upstream) => {
    const json = Buffer.from(JSON.stringify({ job: 'j', attempt: 1, workload, work: 1, ...head }))
    const content = { headBytes: json.length, content: Buffer.concat([json, body]) }
    const call = dispatchAttempt({ upstream, token: 'secret', signal }, content)
    const response = await call.response
    const bytes = await bodyOf(response)
    const outcome = String(response.headers[headers.outcome]) as AttemptOutcome
    if (outcome !== 'result') return { outcome, ...JSON.parse(`${bytes}`) } as AttemptEnd
    sent = { outcome, body: `${bytes}`, fields: response.headers }
    return { outcome }
  })
  return sent ?? end!
}

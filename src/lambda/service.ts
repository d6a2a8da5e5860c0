/** Lambda's Invoke operation, by the AWS SDK. The brain retries, so the SDK does not. */

import { checkPackage } from '../aws/optional-package.ts'
import { functionTrouble, serviceTrouble, type Trouble } from './outcome.ts'

/** The function's answer as it sent it, or how the invocation failed. */
export type Invoked = { payload: Uint8Array } | Trouble

export interface LambdaService {
  /** Never rejects. Resolves when the function has answered, after `limitMs`, or when `signal` is aborted. */
  invoke(
    name: string,
    payload: Uint8Array,
    limits: { limitMs: number; signal: AbortSignal },
  ): Promise<Invoked>
  /** Asks whether the function exists and may be invoked, without running it. Undefined: yes. Never rejects. */
  check(name: string): Promise<Trouble | undefined>
  close(): void
}

const option = '--function-provider = lambda'
const connectMs = 5_000

/**
 * Region, credentials and endpoint are those of the environment (AWS_REGION, AWS_ENDPOINT_URL_LAMBDA …). Rejects with
 * ConfigError if the SDK is not installed.
 */
export async function openLambda(concurrency: number): Promise<LambdaService> {
  checkPackage('@aws-sdk/client-lambda', option)
  const { LambdaClient, InvokeCommand } = await import('@aws-sdk/client-lambda')
  const client = new LambdaClient({
    maxAttempts: 1,
    requestHandler: {
      connectionTimeout: connectMs,
      httpsAgent: { maxSockets: concurrency, keepAlive: true },
    },
  })
  const send = async (
    name: string,
    asked: { InvocationType: 'DryRun' | 'RequestResponse'; Payload?: Uint8Array },
    abortSignal: AbortSignal,
  ) => {
    try {
      return await client.send(new InvokeCommand({ FunctionName: name, ...asked }), { abortSignal })
    } catch (error) {
      return serviceTrouble(name, abortSignal.aborted ? abortSignal.reason : error)
    }
  }
  return {
    async invoke(name, payload, { limitMs, signal }) {
      const limited = AbortSignal.any([signal, AbortSignal.timeout(limitMs)])
      const answer = await send(name, { InvocationType: 'RequestResponse', Payload: payload }, limited)
      if ('kind' in answer) return answer
      const { FunctionError, Payload = new Uint8Array() } = answer
      return FunctionError === undefined ? { payload: Payload } : functionTrouble(name, Payload)
    },
    async check(name) {
      const answer = await send(name, { InvocationType: 'DryRun' }, AbortSignal.timeout(2 * connectMs))
      return 'kind' in answer ? answer : undefined
    },
    close: () => client.destroy(),
  }
}

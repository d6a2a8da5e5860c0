/** Tells how an invocation has failed: which failures pass soon, which are the job's, and which need an operator. */

export type Trouble = {
  /**
   * As the brain knows them. `throttled`, `refused` (503) and `timeout` pass soon; `limit`: the job does not fit into a
   * function; `broken`: the function or the access to it does not work.
   */
  kind: 'throttled' | 'refused' | 'timeout' | 'limit' | 'broken'
  message: string
}

/** The payload of an invocation with `FunctionError`. */
interface FunctionFailure {
  errorType?: unknown
  errorMessage?: unknown
}

const rateExceeded = /rate exceeded/i

/** The function, or the runtime around it, has failed. */
export function functionTrouble(name: string, payload: Uint8Array): Trouble {
  const { errorType = 'Unhandled', errorMessage = '' } = parsed(payload)
  const type = String(errorType)
  const message = String(errorMessage)
  const told = `Lambda function ${name}: ${type}: ${message}`
  if (type === 'Sandbox.Timedout' || /Task timed out after/.test(message))
    return { kind: 'timeout', message: told }
  if (type === 'Runtime.OutOfMemory' || /signal: (killed|aborted)/.test(message))
    return { kind: 'limit', message: told }
  if (type === 'Function.ResponseSizeTooLarge') return { kind: 'limit', message: told }
  if (rateExceeded.test(message) || /Throttl/.test(type)) return { kind: 'throttled', message: told }
  return { kind: 'broken', message: told }
}

/** What the SDK throws. */
interface ServiceError {
  name?: string
  message?: string
  code?: string
  $metadata?: { httpStatusCode?: number }
}

/** Lambda has refused the invocation, or was not reached. */
export function serviceTrouble(name: string, error: unknown): Trouble {
  const { name: type = 'Error', message = '', code, $metadata } = (error ?? {}) as ServiceError
  const status = $metadata?.httpStatusCode
  const told = (what: string) => `lambda:InvokeFunction on function ${name}: ${what}`
  if (status === 429 || /TooManyRequests|Throttl/.test(type) || rateExceeded.test(message))
    return { kind: 'throttled', message: told(`throttled: ${message}`) }
  if (status === 413) return { kind: 'limit', message: told(message) }
  if (status === 503) return { kind: 'refused', message: told(`not available: ${message}`) }
  if (type === 'TimeoutError' || code === 'ETIMEDOUT' || code === 'ESOCKETTIMEDOUT')
    return { kind: 'timeout', message: told('no answer in time') }
  return { kind: 'broken', message: told(reasonOf(type, message || (code ?? ''))) }
}

const reasons: readonly (readonly [pattern: RegExp, reason: string])[] = [
  [/^ResourceNotFound/, 'the account has no such function in this region'],
  [/^AccessDenied/, 'the role or user of the balancer lacks this permission'],
  [/^ExpiredToken/, 'the AWS credentials have expired'],
  [/^(UnrecognizedClient|InvalidSignature|InvalidClientTokenId)/, 'AWS does not know these credentials'],
  [/^CredentialsProvider/, 'no AWS credentials were found'],
]

function reasonOf(type: string, message: string): string {
  if (/region is missing/i.test(message)) return 'no AWS region is set: set AWS_REGION'
  const reason = reasons.find(([pattern]) => pattern.test(type))?.[1]
  return reason ? `${reason} (${type}: ${message})` : `${type}: ${message}`
}

function parsed(payload: Uint8Array): FunctionFailure {
  try {
    return (JSON.parse(Buffer.from(payload).toString()) ?? {}) as FunctionFailure
  } catch {
    return { errorMessage: Buffer.from(payload).toString().slice(0, 1_000) }
  }
}

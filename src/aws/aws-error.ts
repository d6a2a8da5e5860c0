/** Errors of AWS, by what the caller does next, in one sentence that names the action and the resource. */

import { PlimsollError } from '../lib/errors.ts'

export type AwsErrorKind =
  /** Too many calls: the same call may succeed later. */
  | 'throttled'
  /** No capacity or quota for this type in this zone: another may have some. */
  | 'capacity'
  /** No answer, or a fault of AWS: whether the call had an effect is unknown. */
  | 'unknown'
  /** The resource does not exist, or not yet everywhere. */
  | 'gone'
  | 'denied'
  | 'credentials'
  | 'expired'
  | 'region'
  | 'rejected'

export class AwsError extends PlimsollError {
  readonly code = 'AWS'
  readonly kind: AwsErrorKind
  constructor(kind: AwsErrorKind, message: string, cause?: unknown) {
    super(message, { cause })
    this.kind = kind
  }
}

/** A call, for messages. */
export interface AwsCall {
  /** As in policies: `ec2:RunInstances`. */
  action: string
  /** `image ami-1 as t3.micro`. */
  resource: string
  region: string
}

const kinds: Readonly<Record<Exclude<AwsErrorKind, 'rejected'>, readonly string[]>> = {
  throttled: [
    ...['RequestLimitExceeded', 'Throttling', 'ThrottlingException', 'ThrottledException'],
    ...['RequestThrottled', 'TooManyRequestsException', 'EC2ThrottledException'],
  ],
  capacity: [
    ...['InsufficientInstanceCapacity', 'InsufficientHostCapacity', 'InsufficientCapacity', 'Unsupported'],
    ...['InstanceLimitExceeded', 'VcpuLimitExceeded', 'MaxSpotInstanceCountExceeded', 'SpotMaxPriceTooLow'],
    'InsufficientFreeAddressesInSubnet',
  ],
  unknown: [
    ...['InternalError', 'InternalFailure', 'InternalServiceError', 'ServiceUnavailable', 'Unavailable'],
    ...['TimeoutError', 'RequestTimeout', 'ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENETUNREACH'],
    ...['EHOSTUNREACH', 'ENOTFOUND', 'EAI_AGAIN', 'AbortError'],
  ],
  gone: ['InvalidInstanceID.NotFound'],
  denied: ['UnauthorizedOperation', 'AccessDenied', 'AccessDeniedException'],
  credentials: [
    ...['CredentialsProviderError', 'AuthFailure', 'InvalidClientTokenId', 'UnrecognizedClientException'],
    ...['SignatureDoesNotMatch', 'IncompleteSignature', 'MissingAuthenticationToken'],
  ],
  expired: ['ExpiredToken', 'ExpiredTokenException', 'RequestExpired'],
  region: ['OptInRequired', 'InvalidRegion'],
}

const meanings: Readonly<Record<AwsErrorKind, string>> = {
  throttled: 'AWS limits the rate of these calls',
  capacity: 'AWS has no capacity or quota for it',
  unknown: 'no usable answer came; check the region (--aws-region) and the network if this continues',
  gone: 'it does not exist',
  denied: 'the credentials do not allow this action; add it to the policy of their role or user',
  credentials:
    'AWS finds no valid credentials; set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or give this machine an instance profile',
  expired: 'the credentials have expired; renew them',
  region: 'the region is missing or not enabled; set --aws-region or AWS_REGION',
  rejected: 'AWS rejects the request',
}

/** Messages of denied calls carry an encoded text of a thousand characters. */
const mostDetail = 200

interface Failure {
  name?: string
  code?: string
  message?: string
  $response?: { statusCode?: number }
  $metadata?: { httpStatusCode?: number }
}

export function awsError(error: unknown, { action, resource, region }: AwsCall): AwsError {
  if (error instanceof AwsError) return error
  const kind = kindOf(error as Failure)
  const { name, code, message = '' } = error as Failure
  const label = code ?? (name === 'Error' ? undefined : name)
  const detail = [label, message.replace(/ ?Encoded authorization failure message:.*/s, '')]
    .filter((part) => part !== undefined && part !== '')
    .join(': ')
  const where = region === '' ? '' : ` in ${region}`
  const text = `${action} of ${resource}${where}: ${meanings[kind]} (${detail.slice(0, mostDetail)})`
  return new AwsError(kind, text, error)
}

function kindOf({ name = '', code = '', message = '', $metadata, $response }: Failure): AwsErrorKind {
  if (/region is missing|invalid region/i.test(message)) return 'region'
  for (const [kind, names] of Object.entries(kinds)) {
    if (names.includes(name) || names.includes(code)) return kind as AwsErrorKind
  }
  const status = $metadata?.httpStatusCode ?? $response?.statusCode
  if (status === undefined) return code === '' && name !== 'Error' ? 'rejected' : 'unknown'
  return status >= 500 ? 'unknown' : status === 429 ? 'throttled' : 'rejected'
}

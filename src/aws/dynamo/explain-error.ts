/** Turns errors of AWS and of its connections into one sentence that names the action, the resource, the cause and the remedy. */
import { PlimsollError } from '../../lib/errors.ts'

/** A call to DynamoDB failed. */
export class DynamoError extends PlimsollError {
  readonly code = 'DYNAMODB'
  /** The name that AWS gives the error, such as ResourceNotFoundException. */
  readonly reason: string
  /** DynamoDB did not answer: whether it has done what it was asked to is unknown. */
  readonly isUnknown: boolean
  /** As the SDK threw it. Not its `cause`, whose stack would be shown: the message says everything. */
  readonly failure: unknown
  constructor(message: string, reason: string, isUnknown: boolean, failure: unknown) {
    super(message)
    this.failure = failure
    this.reason = reason
    this.isUnknown = isUnknown
  }
}

interface Failure {
  name?: string
  message?: string
  /** Of Node, such as ECONNREFUSED. */
  code?: string
  $fault?: 'client' | 'server'
  $metadata?: { attempts?: number; httpStatusCode?: number }
}

export interface Called {
  /** As policies name it, without `dynamodb:`. */
  action: string
  table: string
  region: string
}

const rejected = 'AWS rejects the credentials. Check the access key, or the role of this machine'
const expired = 'the session token has expired. Log in again, or give this machine a role'
const throttled = 'DynamoDB throttles it. Raise the capacity of the table, or use on-demand capacity'

/** By the names of AWS. */
const causes: Readonly<Record<string, string>> = {
  CredentialsProviderError:
    'no AWS credentials were found. Set AWS_PROFILE or AWS_ACCESS_KEY_ID, or give this machine a role',
  UnrecognizedClientException: rejected,
  InvalidClientTokenId: rejected,
  InvalidSignatureException: rejected,
  IncompleteSignatureException: rejected,
  ExpiredTokenException: expired,
  ExpiredToken: expired,
  AccessDeniedException: 'AWS denies it. Allow this action on this table in the policy of the role',
  AccessDenied: 'AWS denies it. Allow this action on this table in the policy of the role',
  ResourceNotFoundException: 'the table does not exist in this region. Check the region and the prefix',
  ProvisionedThroughputExceededException: throttled,
  ThrottlingException: throttled,
  RequestLimitExceeded: throttled,
  LimitExceededException: 'a limit of the AWS account is reached. Raise it, or try again later',
  ENOTFOUND: 'DynamoDB cannot be reached. Check the region, the endpoint and the network',
  ECONNREFUSED: 'DynamoDB cannot be reached. Check the endpoint, and that it runs',
}

export function explainError(error: unknown, { action, table, region }: Called): DynamoError {
  if (error instanceof DynamoError) return error
  const failure = error as Failure
  const reason = nameOf(failure)
  const isAnswered = failure.$fault === 'client' || (failure.$metadata?.httpStatusCode ?? 500) < 500
  // Of the connection, an earlier try may have reached DynamoDB.
  const isUnsent = reason === 'CredentialsProviderError'
  const why = causes[reason] ?? (isAnswered ? 'DynamoDB rejects it' : 'DynamoDB did not answer. Try again')
  return new DynamoError(
    `dynamodb:${action} on table ${table} in ${region}: ${why} (${failure.message || reason})`,
    reason,
    !isAnswered && !isUnsent,
    error,
  )
}

function nameOf({ name, code }: Failure): string {
  return code !== undefined && code in causes
    ? code
    : name === undefined || name === 'Error'
      ? (code ?? 'Error')
      : name
}

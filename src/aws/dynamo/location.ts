/** Where tables are: `dynamodb://PREFIX?region=…&endpoint=…`. */
import { ConfigError } from '../../lib/errors.ts'

export interface DynamoLocation {
  /** What the names of all tables begin with. */
  prefix: string
  region?: string
  /** Of a DynamoDB that is not Amazon's. */
  endpoint?: string
}

export const usualPrefix = 'plimsoll'
const form = 'must be dynamodb or dynamodb://TABLE-PREFIX?region=REGION, optionally with &endpoint=URL'

export function isDynamo(location: string): boolean {
  return /^dynamodb($|:\/\/)/i.test(location)
}

/** Throws ConfigError. */
export function parseDynamo(location: string): DynamoLocation {
  const url = URL.parse(location.includes('://') ? location : `${location}://`)
  const { host: prefix = '', searchParams } = url ?? {}
  const unknown = [...(searchParams?.keys() ?? [])].find((name) => name !== 'region' && name !== 'endpoint')
  if (!url || url.username || url.pathname.length > 1 || unknown !== undefined)
    throw new ConfigError(`store = ${withoutUser(location)}: ${form}`)
  if (prefix !== '' && !/^[\w.-]{2,200}$/.test(prefix))
    throw new ConfigError(
      `store = ${location}: the table prefix must have 2 to 200 letters, digits, dots, dashes or underscores`,
    )
  const region = searchParams?.get('region') ?? undefined
  if (region !== undefined && !/^[a-z0-9-]{1,40}$/.test(region))
    throw new ConfigError(
      `store = ${location}: region = ${region}: must be the name of a region, such as eu-central-1`,
    )
  const endpoint = searchParams?.get('endpoint') ?? undefined
  if (endpoint !== undefined) checkEndpoint(`store = ${location}`, endpoint)
  return { prefix: prefix || usualPrefix, ...(region && { region }), ...(endpoint && { endpoint }) }
}

/** `dynamodb` and an endpoint as one location. Throws ConfigError. */
export function atEndpoint(location: string, endpoint: string): string {
  checkEndpoint(`endpoint = ${endpoint}`, endpoint)
  const parsed = parseDynamo(location)
  const query = new URLSearchParams({ ...(parsed.region && { region: parsed.region }), endpoint })
  return `dynamodb://${parsed.prefix}?${query}`
}

function checkEndpoint(name: string, endpoint: string): void {
  const protocol = URL.parse(endpoint)?.protocol
  if (protocol !== 'http:' && protocol !== 'https:')
    throw new ConfigError(
      `${name}: the endpoint must be the URL of a DynamoDB, such as http://localhost:8000`,
    )
}

function withoutUser(location: string): string {
  return location.replace(/:\/\/.*@/, '://…@')
}

/** Options that hold addresses. */

import { ConfigError } from '../../lib/errors.ts'

/** `HOST:PORT`, with brackets around an IPv6 address. */
export function addressFrom(option: string, text: string): { host: string; port: number } {
  const [, v6, name, digits] = /^(?:\[([\da-f:.]+)\]|([^:/\s[\]]+)):(\d{1,5})$/i.exec(text) ?? []
  const host = v6 ?? name
  const port = Number(digits)
  if (host !== undefined && port <= 65_535) return { host, port }
  throw new ConfigError(
    `${option} = ${text}: must be HOST:PORT, such as 0.0.0.0:8082 or [::]:8082; port 0 picks a free one`,
  )
}

/** Values separated by commas. */
export function listFrom(text: string): string[] {
  return text
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '')
}

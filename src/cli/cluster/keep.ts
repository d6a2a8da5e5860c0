/** Options about kept jobs. */

import { atEndpoint, isDynamo, parseDynamo } from '../../aws/dynamo/location.ts'
import type { keepOptions } from '../../config/keep-options.ts'
import type { OptionValues } from '../../config/option.ts'
import { ConfigError } from '../../lib/errors.ts'
import type { ClusterOptions } from '../../live/cluster-options.ts'

const units: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 }

export function keepFrom({
  store: location,
  endpoint,
  standby,
  keepResults,
  resultSpace,
  openJobs,
  openSpace,
  openShare,
  endedJobs,
  endedSpace,
  webhookHosts,
}: OptionValues<typeof keepOptions>): Pick<ClusterOptions, 'keep'> {
  const store = storeFrom(location, endpoint)
  if (standby && !store?.includes('://'))
    throw new ConfigError(
      '--standby requires --store = postgres://… or dynamodb://…: the database that the clusters share',
    )
  return {
    keep: {
      ...(store !== undefined && { store }),
      standby,
      keepMs: keepResults * 3_600_000,
      keepBytes: Math.round(resultSpace * 2 ** 20),
      open: {
        jobs: openJobs,
        bytes: Math.round(openSpace * 2 ** 20),
        clientShare: openShare / 100,
      },
      ended: { jobs: endedJobs, bytes: Math.round(endedSpace * 2 ** 20) },
      webhookHosts: readHosts(webhookHosts),
    },
  }
}

/** Undefined: in the data folder. A database always has `://`. */
function storeFrom(location: string | undefined, endpoint: string | undefined): string | undefined {
  if (location !== undefined && isDynamo(location)) {
    const { prefix } = parseDynamo(location)
    if (endpoint !== undefined) return atEndpoint(location, endpoint)
    return location.includes('://') ? location : `dynamodb://${prefix}`
  }
  if (endpoint !== undefined) throw new ConfigError('--endpoint requires --store = dynamodb')
  const isPostgres = location !== undefined && /^postgres(ql)?:\/\//.test(location)
  if (!isPostgres && (location === '' || location?.includes('://')))
    throw new ConfigError(
      `--store = ${withoutLogin(location)}: must be a folder, or begin with postgres:// or dynamodb://`,
    )
  return location
}

function withoutLogin(url: string): string {
  return url.replace(/^([^:]*:\/\/).*@/, '$1…@')
}

function readHosts(text: string | undefined): string[] {
  const hosts = (text ?? '').split(',').map((host) => host.trim().toLowerCase())
  const bad = hosts.find((host) => host !== '' && !/^(\*|(\*\.)?[a-z0-9.:_-]+)$/.test(host))
  if (bad !== undefined)
    throw new ConfigError(`--webhook-hosts: ${bad}: must be a name, *.name or *, without protocol and port`)
  return hosts.filter((host) => host !== '')
}

/** 0: only requests whose clients ask for it are kept. */
export function asyncAboveFrom({
  asyncAbove: text,
}: Partial<Pick<OptionValues<typeof keepOptions>, 'asyncAbove'>>): number {
  if (text === undefined) return 0
  const [, number, unit = ''] = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/.exec(text) ?? []
  const ms = Number(number) * (units[unit] ?? 0)
  if (ms > 0) return ms
  throw new ConfigError(`--async-above = ${text}: must be a time above 0 with ms, s, m or h, for example 30s`)
}

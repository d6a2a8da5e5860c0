/** The options about answers that are given again, or shared. */

import { ConfigError } from '../lib/errors.ts'
import type { RepeatOptions } from '../wire/front-settings.ts'
import type { OptionValues } from './options.ts'

export const repeatOptions = {
  coalesce: {
    help: 'same requests to deterministic workloads at the same time share one job',
    default: false,
  },
  cache: {
    help: 'MB of answers of deterministic workloads that are kept and given again; 0: none',
    default: 0,
    min: 0,
    max: 1_000_000,
    value: 'MB',
  },
  'cache-age': {
    help: 'seconds after which a kept answer is not given again; 0: it is at any age',
    default: 0,
    min: 0,
    value: 'SECONDS',
  },
} as const

/** `own`: the configuration that describes an own server, if it is one that is served. */
export function repeatsFrom(
  values: OptionValues<typeof repeatOptions>,
  own: string | undefined,
): RepeatOptions {
  const { cache, coalesce, 'cache-age': seconds } = values
  if (own !== undefined && (cache > 0 || coalesce)) {
    const option = cache > 0 ? `--cache = ${cache}` : '--coalesce'
    throw new ConfigError(`${option}: does not go with the own server in ${own}, but with workloads`)
  }
  if (seconds > 0 && cache === 0) {
    throw new ConfigError(`--cache-age = ${seconds}: there must be a --cache too`)
  }
  return {
    ...(coalesce && { coalesce }),
    ...(cache > 0 && { cacheBytes: Math.round(cache * 1024 * 1024) }),
    ...(seconds > 0 && { cacheAgeMs: seconds * 1000 }),
  }
}

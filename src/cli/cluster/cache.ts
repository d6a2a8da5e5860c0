/** Cache options: answers that are kept, and jobs that are shared. */

import type { cacheOptions } from '../../config/cluster-options.ts'
import type { OptionValues } from '../../config/option.ts'
import { ConfigError } from '../../lib/errors.ts'
import type { RepeatOptions } from '../../wire/front-settings.ts'

/** `serverConfig`: the configuration file, if the cluster serves an existing server. */
export function cacheFrom(
  values: OptionValues<typeof cacheOptions>,
  serverConfig: string | undefined,
): RepeatOptions {
  const { cache, coalesce, cacheAge } = values
  if (serverConfig !== undefined && (cache > 0 || coalesce)) {
    const option = cache > 0 ? `--cache = ${cache}` : '--coalesce'
    throw new ConfigError(
      `${option}: cannot be combined with the existing server in ${serverConfig}; only workloads are cached`,
    )
  }
  if (cacheAge > 0 && cache === 0) {
    throw new ConfigError(`--cache-age = ${cacheAge}: requires --cache`)
  }
  return {
    ...(coalesce && { coalesce }),
    ...(cache > 0 && { cacheBytes: Math.round(cache * 1024 * 1024) }),
    ...(cacheAge > 0 && { cacheAgeMs: cacheAge * 1000 }),
  }
}

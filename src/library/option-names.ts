/** Names options as programs do. */

import { ConfigError } from '../lib/errors.ts'

/** Runs `work` and names the options in its errors by their keys: `adminPort`, not `--admin-port`. */
export async function withOptionNames<T>(caller: string, work: () => Promise<T> | T): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    throw new ConfigError(`${caller}: ${withKeys(error.message)}`, { cause: error })
  }
}

/** The checks of options are those of the command line, which call them `--admin-port`. */
function withKeys(message: string): string {
  return message.replace(/--([a-z]+(?:-[a-z]+)*)/g, (_, flag: string) =>
    flag.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase()),
  )
}

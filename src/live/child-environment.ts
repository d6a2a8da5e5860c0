/** The environments of the processes that a cluster starts. */

import { tokenVariables } from './tokens.ts'

/**
 * Larger pieces of memory are returned to the system when they are freed. By default glibc raises this threshold with
 * the size of what is freed and keeps bodies, answers and matrices between small pieces that stay: the process grows for
 * many minutes. See decisions/144-flat-under-load.md.
 */
const serving = { MALLOC_MMAP_THRESHOLD_: `${256 * 1024}` }

/** The environment of this process, without tokens and without what `servingEnvironment` has added. */
export function childEnvironment(all: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv {
  const env = { ...all }
  for (const name of Object.values(tokenVariables)) delete env[name]
  for (const [name, value] of Object.entries(serving)) if (env[name] === value) delete env[name]
  return env
}

/** That of the brain and of fronts. The operator's own settings take precedence. */
export function servingEnvironment(all: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv {
  return { ...serving, ...childEnvironment(all) }
}

/** A live cluster for tests whose workers start a real program. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { loadConfig } from '../../src/config/load.ts'
import type { ClusterOptions } from '../../src/live/cluster.ts'
import { type Live, startLive, stopLive } from './live.ts'
import { descendants, type ProcessInfo } from './processes.ts'

/** From a configuration file, like `plimsoll up --config`. */
export async function startOwn(
  config: string,
  options: Partial<ClusterOptions> = {},
  wait = true,
): Promise<Live> {
  const { own } = await loadConfig(config)
  return startLive({ files: [], own: own!, config, slots: 8, queue: 1000, ...options }, wait)
}

/** From a configuration given by the test. `wait`: resolves only when a program is healthy. */
export async function ownOf(
  t: TestContext,
  config: object,
  options: Partial<ClusterOptions> = {},
  wait = true,
): Promise<Live> {
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-own-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const live = await startOwn(writeJsonConfig(folder, config), options, wait)
  t.after(() => stopLive(live))
  return live
}

export function writeJsonConfig(folder: string, config: object): string {
  const file = join(folder, 'plimsoll.config.json')
  writeFileSync(file, JSON.stringify(config))
  return file
}

/** The processes of this test's programs. */
export function programs(word: string): ProcessInfo[] {
  return descendants(process.pid).filter(
    ({ command }) => command.includes(word) && !command.includes(' worker --join '),
  )
}

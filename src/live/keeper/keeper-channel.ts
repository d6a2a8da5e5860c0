/** The keeper's side of the channel to the supervisor. This process ends with it. */

import { ConfigError } from '../../lib/errors.ts'
import { watchKeeper } from './keeper-overload.ts'
import type { FromKeeper, KeeperSettings, ToKeeper } from './messages.ts'
import { startKeeper } from './run-keeper.ts'

/** Resolves with the exit code when the supervisor ends the keeper. */
export async function keeperProcess(log: (line: string) => void): Promise<number> {
  if (!process.send) throw new ConfigError('keeper: only for processes that plimsoll up starts')
  const end = () => process.exit(1)
  process.on('disconnect', end)
  const tell = (message: FromKeeper) => void process.send?.(message, undefined, {}, () => {})
  const begun = Promise.withResolvers<{ token: string }>()
  const over = Promise.withResolvers<number>()
  const stop = new AbortController()
  let settings: KeeperSettings | undefined
  let ports: readonly number[] = []
  process.on('message', (message: ToKeeper) => {
    if (message.type === 'fronts') ports = message.ports
    else {
      settings = message.settings
      begun.resolve({ token: message.token })
    }
  })
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.once(signal, () => {
      stop.abort()
      over.resolve(0)
    })
  const { token } = await begun.promise
  const overload = watchKeeper(settings!.processMb, (line) => log(`keeper: ${line}`))
  const leave = () => {
    overload.close()
    process.off('disconnect', end)
    process.disconnect?.()
  }
  const led = (term: number | undefined) => tell({ type: 'term', ...(term !== undefined && { term }) })
  const options = { settings: () => settings!, token, fronts: () => ports, log, led, overload }
  // An open channel would keep the process alive, and the supervisor from starting another.
  const keeper = await startKeeper(options, stop.signal).catch((error: unknown) => {
    leave()
    throw error
  })
  const { port, joinPort } = keeper
  tell({ type: 'listening', port, ...(joinPort !== undefined && { joinPort }) })
  const code = await over.promise
  process.off('disconnect', end)
  await keeper.close()
  leave()
  return code
}

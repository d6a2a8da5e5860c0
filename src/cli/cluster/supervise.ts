/** `plimsoll up` as the user starts it: supervises the brain and the fronts, which run in processes of their own. */

import { fileURLToPath } from 'node:url'
import { Supervisor } from '../../live/supervise/supervisor.ts'
import { tokensInEnvironment } from '../../live/tokens.ts'
import { hasTerminal } from '../terminal/hang-up.ts'
import { watchNpm } from './npm-parent.ts'
import { supervisedFlag } from './up-options.ts'

const main = fileURLToPath(new URL('../plimsoll.js', import.meta.url))

/** Loading code alone would let the space for young objects grow to 32 MB. */
const semiSpace = '--max-semi-space-size=2'
/** The warning would name the copies that the cluster keeps of the user's files. */
const noTypeWarning = '--disable-warning=MODULE_TYPELESS_PACKAGE_JSON'

/** Resolves with the exit code when the cluster has ended. */
export async function supervise(args: readonly string[]): Promise<number> {
  const node = [process.execPath, ...process.execArgv]
  const supervisor = new Supervisor({
    brain: [...node, semiSpace, noTypeWarning, main, 'up', supervisedFlag, ...args],
    front: [...node, semiSpace, noTypeWarning, main, 'front'],
    keeper: [...node, semiSpace, main, 'keeper'],
    tokens: tokensInEnvironment(),
    log: (line) => console.error(line),
  })
  // A second signal of the same kind ends this process at once, and the others with it.
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => supervisor.stop(signal))
  const npm = watchNpm(() => {
    console.error('The npm that started this cluster has ended.')
    supervisor.stop('SIGTERM')
  })
  const onHangUp = () => {
    npm.hangUp()
    if (hasTerminal()) supervisor.reload()
    else supervisor.stop('SIGTERM')
  }
  process.on('SIGHUP', onHangUp)
  try {
    return await supervisor.run()
  } finally {
    npm.end()
    process.off('SIGHUP', onHangUp)
  }
}

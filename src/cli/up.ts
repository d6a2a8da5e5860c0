import { supervisedFlag, upOptions } from './cluster/up-options.ts'
import type { Command } from './options.ts'

/** A cluster on this machine. */
export const up: Command = {
  summary: 'Start a cluster on this machine: front, brain and workers.',
  usage: '[options]',
  options: upOptions,
  // The process that supervises the others loads as little as possible.
  async run(args) {
    if (args[0] !== supervisedFlag) return (await import('./cluster/supervise.ts')).supervise(args)
    const { supervisorLink } = await import('../live/supervise/supervisor-link.ts')
    const link = await supervisorLink()
    try {
      const { runUp } = await import('./cluster/run-up.ts')
      return await runUp(args.slice(1), link)
    } finally {
      link.close()
    }
  },
}

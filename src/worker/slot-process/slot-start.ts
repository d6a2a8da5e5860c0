/** Starts a slot: the cache of modules first, since all others are loaded through it. */
import { startBootCache } from './boot-cache.ts'

const { bootCache } = JSON.parse(process.argv[2]!) as { bootCache: string }
const cache = startBootCache(bootCache)
const main = await import('./slot-main.ts')
// A cold slot loads modules that others do not need: the ones that strip types and rewrite code.
await main.load((cold) => cache.end(!cold))

/** Starts a slot: the cache of modules first, since all others are loaded through it. */
import { startBootCache } from './boot-cache.ts'

const { bootCache } = JSON.parse(process.argv[2]!) as { bootCache: string }
const cache = startBootCache(bootCache)
const main = await import('./slot-main.ts')
await main.load(async (cold) => {
  const recording = cache.end()
  // A cold slot loads modules that others do not need: the ones that strip types and rewrite code.
  if (cold || !recording) return
  const { writeBootCache } = await import('./boot-cache-writer.ts')
  writeBootCache(bootCache, recording)
})

/** Loaded before the tests: replaces a piece of one module as it is loaded. No file is changed. */

import { registerHooks } from 'node:module'
import type { Planted } from './planted.ts'

const { url: target, start, end, text }: Planted = JSON.parse(process.env.PLIMSOLL_PLANTED ?? '')

registerHooks({
  load(url, context, next) {
    const loaded = next(url, context)
    if (url !== target) return loaded
    const source = Buffer.from(loaded.source as Uint8Array).toString('utf8')
    return { ...loaded, source: source.slice(0, start) + text + source.slice(end) }
  },
})

#!/usr/bin/env node
/**
 * Starts the command line. What was compiled is kept, so that a command starts in half the time; this file is no
 * TypeScript because Node would have to load what strips types for it each time, before it can look into the cache.
 */

import { enableCompileCache } from 'node:module'
import { fileURLToPath } from 'node:url'

enableCompileCache(fileURLToPath(new URL('../../node_modules/.cache/plimsoll', import.meta.url)))
await import('./main.ts')

/** Runs all tests of a room in one process. A process for each file would cost more than the tests of a pure room. */

import { globSync } from 'node:fs'
import { resolve } from 'node:path'
import { suite } from 'node:test'
import { pathToFileURL } from 'node:url'

/** Each file has a suite of its own, so that its hooks concern its own tests only. */
export function roomTests(room: string): void {
  for (const file of globSync(`src/${room}/**/*.test.ts`).sort())
    suite(file, async () => {
      await import(pathToFileURL(resolve(file)).href)
    })
}

/** A process like a slot: loads a module through the meter, calls its default export, and prints the result. */
import { pathToFileURL } from 'node:url'
import { type MeterOptions, meterModules } from '../hooks.ts'

export interface MeteredRun {
  result: unknown
  /** Stack trace of the error, if one was thrown. */
  stack?: string
  work: number
  /** Names of files that had to be rewritten. */
  rewrote: string[]
}

const [file, options] = process.argv.slice(2) as [string, string]
const rewrote: string[] = []
const runtime = meterModules(JSON.parse(options) as MeterOptions, ({ url }) => {
  rewrote.push(url.slice(url.lastIndexOf('/') + 1))
})
const { default: main } = (await import(pathToFileURL(file).href)) as { default: () => unknown }
runtime.begin()
const run: MeteredRun = { result: undefined, work: 0, rewrote }
try {
  run.result = await main()
} catch (error) {
  run.stack = (error as Error).stack!
}
run.work = runtime.work()
process.stdout.write(JSON.stringify(run))

/** A child process that runs a workload's stream of requests, metered, and sends a row for each. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Random, stream } from '../../src/lib/random.ts'
import { type MeterSetup, runnerOf, validParams } from '../meter/runner.ts'
import { featuresOf, keyOf, type Row } from './row.ts'
import type { Request, Stream } from './stream.ts'

export interface StreamSetup {
  file: string
  stream: string
  meter: MeterSetup
  seed: number
  /** The number of requests drawn. */
  count: number
  /** The number of requests run for each one drawn: itself and its variations. */
  alike: number
}

const setup = JSON.parse(process.argv[2]!) as StreamSetup
const dataDir = mkdtempSync(join(tmpdir(), 'plimsoll-bench-'))
process.on('exit', () => rmSync(dataDir, { recursive: true, force: true }))
process.on('disconnect', () => process.exit())

const { workload, run } = await runnerOf(setup.file, setup.meter)
const source = (await import(setup.stream)) as Stream
let number = 0
for (const request of requests(source, stream(setup.seed, `requests of ${workload.name}`))) {
  await send(await measured(request))
}
process.disconnect()

function* requests({ sample, vary }: Stream, random: Random): Generator<Request> {
  for (let i = 0; i < setup.count; i++) {
    const request = sample(random)
    yield request
    for (let j = 1; j < setup.alike; j++) yield vary!(request, random)
  }
}

async function measured({ params, body = new Uint8Array() }: Request): Promise<Row> {
  const { work, cpuMs } = await run({ jobId: `bench-${number++}`, dataDir, params, body })
  const valid = await validParams(workload, params)
  const features = featuresOf(workload, valid, body)
  return { params: valid, features, key: keyOf(valid, body), work, cpuMs, bodyBytes: body.length }
}

/** Waits until the row is sent, so that none is lost at exit. */
function send(row: Row): Promise<void> {
  return new Promise((resolve, reject) => {
    process.send!(row, undefined, undefined, (error) => (error ? reject(error) : resolve()))
  })
}

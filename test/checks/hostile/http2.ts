/** Clients that flood, hold or bloat connections of HTTP/2. */

import { setTimeout as delay } from 'node:timers/promises'
import { certificateFolder, newCertificate } from '../../support/certificates.ts'
import { rssMbOf } from '../../support/hostile/process-tree.ts'
import { within } from '../../support/hostile/raw.ts'
import {
  endHeaders,
  endStream,
  frame,
  frameType,
  literal,
  RawHttp2,
  requestHead,
  settings,
  word,
} from '../../support/hostile/raw-http2.ts'
import type { Experiment, Trial } from '../../support/hostile/trial.ts'
import type { Up } from '../../support/hostile/up.ts'

const streamOf = (i: number) => 2 * i + 1
const whole = endHeaders | endStream
const double = requestHead('GET', '/double?n=1')
const sink = requestHead('POST', '/sink')
const cancel = word(8)
/** A header that takes 4 KB of the receiver's table, and then one byte for each repetition. */
const bomb = Buffer.concat([
  double,
  literal('x-bomb', 'b'.repeat(3_900), true),
  Buffer.alloc(4_000, 0x80 | 62),
])

interface Flood {
  /** Frames, which are sent until the connection is closed. */
  count: number
  begin?: Buffer
  frames(i: number): Buffer
  /** False: each frame costs next to nothing, so the connection may stay open. */
  mustEnd: boolean
}

const floods: Record<string, Flood> = {
  'requests that are reset at once': {
    ...{ count: 20_000, mustEnd: true },
    frames: (i) =>
      Buffer.concat([
        frame(frameType.headers, whole, streamOf(i), double),
        frame(frameType.reset, 0, streamOf(i), cancel),
      ]),
  },
  'a head that never ends': {
    ...{ count: 4_000, mustEnd: true, begin: frame(frameType.headers, endStream, 1, double) },
    frames: () => frame(frameType.continuation, 0, 1, literal('x-more', 'y'.repeat(8_000))),
  },
  'a head that goes on with empty frames': {
    ...{ count: 100_000, mustEnd: true, begin: frame(frameType.headers, endStream, 1, double) },
    frames: () => frame(frameType.continuation, 0, 1),
  },
  settings: { count: 50_000, mustEnd: true, frames: () => settings() },
  pings: { count: 50_000, mustEnd: true, frames: () => frame(frameType.ping, 0, 0, Buffer.alloc(8)) },
  'heads that are short to send and long to read': {
    ...{ count: 400, mustEnd: false },
    frames: (i) => frame(frameType.headers, whole, streamOf(i), bomb),
  },
  'empty pieces of a body': {
    ...{ count: 50_000, mustEnd: false, begin: frame(frameType.headers, endHeaders, 1, sink) },
    frames: () => frame(frameType.data, 0, 1),
  },
  'window updates': {
    ...{ count: 50_000, mustEnd: false, begin: frame(frameType.headers, endHeaders, 1, sink) },
    frames: () => frame(frameType.windowUpdate, 0, 1, word(1)),
  },
  priorities: {
    ...{ count: 50_000, mustEnd: false },
    frames: (i) => frame(frameType.priority, 0, streamOf(i % 1_000), Buffer.alloc(5)),
  },
}

async function play(trial: Trial, up: Up, name: string, flood: Flood): Promise<void> {
  const client = await RawHttp2.open(up.port)
  trial.after(() => client.socket.destroy())
  // A reset connection is closed, too.
  const closed = new Promise((resolve) => client.socket.once('close', resolve))
  if (flood.begin) client.socket.write(flood.begin)
  await client.flood(flood.count, flood.frames)
  if (flood.mustEnd)
    await within(20_000, name, closed).catch(() =>
      trial.check(false, `${name}: the connection stays open after ${client.received} bytes`),
    )
  client.socket.destroy()
}

/** Requests whose answers cannot be sent, because the client's window is empty. */
async function readNothing(trial: Trial, up: Up): Promise<void> {
  const client = await RawHttp2.open(up.port, settings({ 4: 0 }))
  trial.after(() => client.socket.destroy())
  const large = requestHead('GET', '/large?mb=2')
  await client.flood(100, (i) => frame(frameType.headers, whole, streamOf(i), large))
}

/** Bodies of which one byte comes, and never the end. */
async function neverEnd(trial: Trial, up: Up): Promise<void> {
  const client = await RawHttp2.open(up.port)
  trial.after(() => client.socket.destroy())
  await client.flood(128, (i) =>
    Buffer.concat([
      frame(frameType.headers, endHeaders, streamOf(i), sink),
      frame(frameType.data, 0, streamOf(i), Buffer.from('a')),
    ]),
  )
}

export const http2Attacks: Experiment = {
  name: 'http2',
  about:
    'resets, endless heads, settings, pings and other floods of HTTP/2, windows of 0, bodies that never end',
  async run(trial) {
    const { files } = certificateFolder(newCertificate('localhost'))
    const up = await trial.start({ flags: ['--tls-cert', files.certs[0]!, '--tls-key', files.keys[0]!] })
    // The time that others take is not compared: answers that nobody reads are jobs like any other.
    const innocents = trial.innocents(up, { slowMs: Infinity })
    await innocents.more(20)
    const doors = () => [up.pid, ...up.fronts().map(({ pid }) => pid)]
    const before = doors()
    const restingMb = Math.max(...before.map(rssMbOf))
    let peakMb = 0
    const watch = setInterval(() => {
      peakMb = Math.max(peakMb, ...before.map(rssMbOf))
    }, 50)
    trial.after(() => clearInterval(watch))
    await Promise.all(Object.entries(floods).map(([name, flood]) => play(trial, up, name, flood)))
    await innocents.more(40)
    await Promise.all([readNothing(trial, up), neverEnd(trial, up), neverEnd(trial, up)])
    await delay(2_000)
    await innocents.more(60)
    trial.check(`${doors()}` === `${before}`, `fronts were ${before} and are ${doors()}`)
    trial.check(
      peakMb - restingMb < 400,
      `memory grew from ${restingMb.toFixed(0)} to ${peakMb.toFixed(0)} MB`,
    )
  },
}

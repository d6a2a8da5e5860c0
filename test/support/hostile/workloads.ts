/** Workloads of the hostile suite: what innocent clients ask for, and what attackers abuse. */

import { spawn } from 'node:child_process'
import { appendFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'
import { type AnyParams, defineWorkload } from '../../../src/workload/workload.ts'

const double = defineWorkload({
  name: 'double',
  description: 'Returns twice the number',
  params: z.strictObject({ n: z.coerce.number().int().min(0).max(1e12) }),
  run: ({ n }) => n * 2,
})

const tally = defineWorkload({
  name: 'tally',
  description: 'Writes the id to a file; must not be repeated',
  params: z.strictObject({ id: z.string() }),
  safeToRepeat: false,
  run({ id }, { dataDir }) {
    appendFileSync(join(dataDir, 'tally'), `${id}\n`)
    return id
  },
})

const logged = defineWorkload({
  name: 'logged',
  description: 'Burns CPU time, and writes its id and the time to a file whenever it starts',
  params: z.strictObject({
    ...{ id: z.string(), ms: z.coerce.number().min(0).max(60_000), file: z.string().optional() },
  }),
  run({ id, ms, file }, { dataDir }) {
    appendFileSync(file ?? join(dataDir, 'logged'), `${id} ${Date.now()}\n`)
    const began = process.cpuUsage()
    for (;;) {
      const { user, system } = process.cpuUsage(began)
      if (user + system >= ms * 1000) return `${id} is done`
    }
  },
})

const sink = defineWorkload({
  name: 'sink',
  description: 'Returns the length of its body',
  async run(_, { body }) {
    let bytes = 0
    for await (const chunk of body) bytes += chunk.length
    return bytes
  },
})

const seen = defineWorkload({
  name: 'seen',
  description: 'Writes its id to a file when its body has arrived',
  params: z.strictObject({ id: z.string() }),
  async run({ id }, { dataDir, body }) {
    for await (const _ of body);
    appendFileSync(join(dataDir, 'seen'), `${JSON.stringify({ url: `/seen?id=${id}` })}\n`)
    return id
  },
})

const echo = defineWorkload<AnyParams>({
  name: 'echo',
  description: 'Takes any parameters',
  run: (params) => Object.keys(params).length,
})

const nap = defineWorkload({
  name: 'nap',
  description: 'Waits without using a core',
  params: z.strictObject({ ms: z.coerce.number().min(0).max(3_600_000) }),
  async run({ ms }) {
    await delay(ms)
    return ms
  },
})

const spin = defineWorkload({
  name: 'spin',
  description: 'Burns CPU time',
  params: z.strictObject({ ms: z.coerce.number().min(0).max(60_000) }),
  run({ ms }) {
    const began = process.cpuUsage()
    for (;;) {
      const { user, system } = process.cpuUsage(began)
      if (user + system >= ms * 1000) return ms
    }
  },
})

const large = defineWorkload({
  name: 'large',
  description: 'Returns an answer of the given size',
  params: z.strictObject({ mb: z.coerce.number().min(0).max(64) }),
  run: ({ mb }) => Buffer.alloc(mb * 1024 * 1024, 'a'),
})

const surroundings = defineWorkload({
  name: 'surroundings',
  description: 'Returns what a job sees of its process',
  run: () => ({ env: { ...process.env }, argv: [...process.execArgv, ...process.argv], cwd: process.cwd() }),
})

const poisons: Record<string, () => void> = {
  prototype: () => Object.assign(Object.prototype, { poisoned: true }),
  map: () => {
    Array.prototype.map = () => ['poisoned'] as never
  },
  stringify: () => {
    JSON.stringify = () => '"poisoned"'
  },
  global: () => Object.assign(globalThis, { poisoned: true }),
  environment: () => {
    process.env.POISONED = 'yes'
  },
  folder: () => process.chdir('/'),
  listener: () => void process.on('message', () => {}),
  timer: () => void setInterval(() => Object.assign(globalThis, { poisoned: true }), 1),
}

export const poisonNames = Object.keys(poisons)

const poison = defineWorkload({
  name: 'poison',
  description: 'Changes the process that it runs in',
  params: z.strictObject({ how: z.enum(poisonNames as [string, ...string[]]) }),
  run({ how }) {
    poisons[how]!()
    return how
  },
})

const probe = defineWorkload({
  name: 'probe',
  description: 'Returns what another job could have changed',
  async run() {
    await delay(5)
    const inherited: string[] = []
    for (const name in {}) inherited.push(name)
    return {
      ...{ inherited, doubled: [1, 2].map((n) => 2 * n), json: JSON.stringify({ a: 1 }) },
      global: 'poisoned' in globalThis,
      environment: process.env.POISONED ?? null,
      folder: process.cwd(),
      listeners: process.listenerCount('message'),
    }
  },
})

const escapes = defineWorkload({
  name: 'escape',
  description: 'Starts a process in a session of its own, writes its id to a file, and then ends or waits',
  params: z.strictObject({ file: z.string(), wait: z.string().optional() }),
  async run({ file, wait }, { dataDir }) {
    const child = spawn('sleep', ['987'], { detached: true, stdio: 'ignore' })
    child.unref()
    writeFileSync(join(dataDir, file), `${child.pid}`)
    if (wait) await delay(3_600_000)
    return child.pid
  },
})

export default [
  double,
  tally,
  logged,
  sink,
  seen,
  echo,
  nap,
  spin,
  large,
  surroundings,
  poison,
  probe,
  escapes,
]

/** Clients and jobs that hold resources without using them. */

import { setTimeout as delay } from 'node:timers/promises'
import { exchange } from '../../support/hostile/innocents.ts'
import { dial, until } from '../../support/hostile/raw.ts'
import type { Experiment, Trial } from '../../support/hostile/trial.ts'
import type { Up } from '../../support/hostile/up.ts'

export const slowReaders: Experiment = {
  name: 'slow-readers',
  about: 'more clients that ask for 16 MB and read nothing than a worker has slots',
  async run(trial) {
    const up = await trial.start()
    const innocents = trial.innocents(up, { slowMs: Infinity })
    const pace = await trial.pace(up)
    for (let i = 0; i < 20; i++) {
      const socket = await dial(up.port)
      trial.after(() => socket.destroy())
      socket.pause()
      socket.write('GET /large?mb=16 HTTP/1.1\r\nHost: x\r\n\r\n')
    }
    await delay(2_000)
    // Where answers are not buffered, their jobs stay.
    await until('their jobs are done', async () => (await up.state()).placed < 6, 15_000).catch(() => {})
    pace.begin()
    await pace.rounds(30)
    await innocents.more(60)
  },
}

/** Twelve requests that are never answered. */
async function hang(trial: Trial, up: Up): Promise<void> {
  const innocents = trial.innocents(up, { slowMs: Infinity })
  const pace = await trial.pace(up)
  for (let i = 0; i < 12; i++) {
    const socket = await dial(up.port)
    trial.after(() => socket.destroy())
    socket.write('GET /nap?ms=3600000 HTTP/1.1\r\nHost: x\r\n\r\n')
  }
  await until('the jobs run', async () => (await up.state()).placed >= 12, 10_000).catch(() => {})
  pace.begin()
  await pace.rounds(30)
  await innocents.more(60)
}

export const hungJobs: Experiment = {
  name: 'hung-jobs',
  about: 'twelve jobs that wait and never answer',
  isGuard: true,
  run: async (trial) => hang(trial, await trial.start()),
}

export const hungRequests: Experiment = {
  name: 'hung-requests',
  about: 'twelve requests to an existing server that it never answers',
  run: async (trial) => hang(trial, await trial.start({ server: {} })),
}

export const idleWebSockets: Experiment = {
  name: 'idle-websockets',
  about: 'ten WebSockets without traffic to an existing server',
  async run(trial) {
    const up = await trial.start({ server: {} })
    const innocents = trial.innocents(up, { slowMs: Infinity })
    const pace = await trial.pace(up)
    let switched = 0
    for (let i = 0; i < 10; i++) {
      const socket = await dial(up.port)
      trial.after(() => socket.destroy())
      socket.on('data', (bytes: Buffer) => {
        if (bytes.toString('latin1').startsWith('HTTP/1.1 101')) switched++
      })
      socket.write('GET /socket HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n')
    }
    await until('all have switched', () => switched === 10, 15_000).catch(() =>
      trial.check(false, `${switched} of 10 WebSockets were accepted`),
    )
    pace.begin()
    await pace.rounds(30)
    await innocents.more(60)
  },
}

export const poisonedSlots: Experiment = {
  name: 'poisoned-slots',
  about: 'jobs that change globals, prototypes, environment, folder, listeners and timers of their process',
  async run(trial) {
    const { poisonNames } = await import('../../support/hostile/workloads.ts')
    const up = await trial.start()
    const innocents = trial.innocents(up)
    const probe = async () => (await exchange(`${up.url}/probe`, 'GET', false)).body
    const before = await probe()
    for (const how of poisonNames) {
      const poisoned = await exchange(`${up.url}/poison?how=${how}`, 'GET', false, { timeoutMs: 5_000 })
      trial.check(poisoned.status > 0, `${how}: ${poisoned.body}`)
      for (let i = 0; i < 4; i++) {
        const after = await probe()
        trial.check(after === before, `after ${how}: ${after.slice(0, 300)}`)
      }
    }
    await innocents.more(20)
  },
}

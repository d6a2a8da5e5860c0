/** Descriptors, disk and growth. */

import { spawnSync } from 'node:child_process'
import { readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { exchange } from '../../support/hostile/innocents.ts'
import { manyConnections, until } from '../../support/hostile/raw.ts'
import { type Experiment, Skipped } from '../../support/hostile/trial.ts'

export const fewDescriptors: Experiment = {
  name: 'few-descriptors',
  about: 'a limit of 160 descriptors, 400 connections, and a worker that must be launched meanwhile',
  async run(trial) {
    const up = await trial.start({
      through: ['prlimit', '--nofile=160:160'],
      flags: ['--min', '1', '--max', '2'],
    })
    // The kernel resets connections that cannot be accepted; kept ones are served.
    const innocents = trial.innocents(up, { slowMs: 30_000, reconnects: false, mayBeRefused: true })
    await innocents.more(40)
    const [worker] = (await up.state()).workers
    const many = await manyConnections(up, 400)
    trial.after(many.close)
    if (worker?.pid !== undefined) {
      up.killedWorkers.add(worker.id)
      process.kill(worker.pid, 'SIGKILL')
    }
    await delay(3_000)
    many.close()
    await innocents.more(40)
    // It is left step by step; until step 1, some requests are shed, by cost and client.
    await until('the overload is over', async () => {
      const { overload, fronts } = await up.state()
      return [overload, ...fronts.map((front) => front.overload)].every((each) => each?.step === 0)
    })
    let served = 0
    await until('requests are served again', async () => {
      const { status } = await exchange(`${up.url}/tally?id=recovery-${served}`, 'POST', false)
      served = status === 200 ? served + 1 : 0
      return served >= 10
    })
    await trial.innocents(up, { slowMs: 30_000, name: 'afterwards' }).more(40)
    await until('a worker is ready', async () => (await up.state()).ready >= 1)
  },
}

/** A file system of its own, which root or an unprivileged user namespace may mount. */
function smallDisk(): string[] {
  for (const flags of [['-m'], ['-r', '-m']]) {
    const command = ['unshare', ...flags, '--propagation', 'private']
    const tried = spawnSync(command[0]!, [...command.slice(1), 'sh', '-c', 'mount -t tmpfs tmpfs /mnt'])
    if (tried.status === 0) return command
  }
  throw new Skipped('no tmpfs can be mounted here')
}

export const fullDisk: Experiment = {
  name: 'full-disk',
  about: 'the disk of event log, ledger and bodies fills up, and has room again later',
  async run(trial) {
    const script = 'mkdir -p .plimsoll && mount -t tmpfs -o size=48m tmpfs .plimsoll && exec "$@"'
    const through = [...smallDisk(), 'sh', '-c', script, 'sh']
    const disk = '.plimsoll'
    const env = (folder: string) => ({ TMPDIR: join(folder, disk) })
    const up = await trial.start({ through, env, flags: ['--event-log', join(disk, 'events.log')] })
    // The mount is visible only inside of the namespace.
    const inside = join('/proc', `${up.pid}`, 'cwd', disk)
    const innocents = trial.innocents(up, { slowMs: 10_000, tallies: false })
    await innocents.more(30)
    const filler = join(inside, 'filler')
    fill(filler)
    const large = Buffer.alloc(4 * 1024 * 1024, 'a')
    const refused = await exchange(`${up.url}/sink`, 'POST', false, { body: large })
    trial.check(
      refused.status >= 500 || refused.status === 413,
      `a body without room got ${refused.status} ${refused.body.slice(0, 100)}`,
    )
    await delay(2_000)
    const complaints = up.lines.filter((line) => /ENOSPC|no space|disk/i.test(line))
    trial.check(complaints.length > 0, 'the log does not say that the disk is full')
    trial.check(complaints.length <= 12, `the log says it ${complaints.length} times`)
    rmSync(filler, { force: true })
    await innocents.more(30)
    const again = await exchange(`${up.url}/sink`, 'POST', false, { body: large })
    trial.check(
      again.status === 200 && again.body === `${large.length}`,
      `with room again: ${again.status} ${again.body.slice(0, 100)}`,
    )
  },
}

function fill(file: string): void {
  for (const bytes of [1024 * 1024, 64 * 1024, 4096]) {
    try {
      for (;;) writeFileSync(file, Buffer.alloc(bytes), { flag: 'a' })
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
    }
  }
}

export const ledgerGrowth: Experiment = {
  name: 'ledger-growth',
  about: '400 requests, each with 15 KB of parameters of its own',
  async run(trial) {
    const up = await trial.start()
    const innocents = trial.innocents(up, { clients: 2 })
    await innocents.more(10)
    const stored = () =>
      readdirSync(up.dataDir)
        .filter((name) => name.startsWith('ledger'))
        .reduce((sum, name) => sum + statSync(join(up.dataDir, name)).size, 0)
    const before = stored()
    const headers = { 'content-type': 'application/json' }
    for (let i = 0; i < 400; i += 8) {
      const answers = await Promise.all(
        Array.from({ length: 8 }, (_, k) => {
          const body = JSON.stringify({ text: `${i + k} `.repeat(3_500).slice(0, 15_000) })
          return exchange(`${up.url}/echo`, 'POST', false, { body, headers })
        }),
      )
      const bad = answers.find(({ status }) => status !== 200)
      trial.check(bad === undefined, `a request got ${bad?.status} ${bad?.body.slice(0, 100)}`)
    }
    await innocents.stop()
    await delay(2_000)
    const perRequest = (stored() - before) / 400
    trial.check(perRequest < 6_000, `the ledger grows by ${Math.round(perRequest)} bytes a request`)
  },
}

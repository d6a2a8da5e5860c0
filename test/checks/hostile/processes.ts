/** Processes that pause, die, come twice or escape. */

import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { exchange } from '../../support/hostile/innocents.ts'
import { dial, until, within } from '../../support/hostile/raw.ts'
import type { Experiment, Trial } from '../../support/hostile/trial.ts'
import type { Up } from '../../support/hostile/up.ts'
import { isAlive } from '../../support/processes.ts'

export const brainPause: Experiment = {
  name: 'brain-pause',
  about: 'the brain is stopped for four seconds, three times, under load',
  async run(trial) {
    const up = await trial.start({ flags: ['--min', '2', '--max', '2'] })
    const innocents = trial.innocents(up, { clients: 8, pauseMs: 0, slowMs: 15_000 })
    await innocents.more(80)
    const before = up.workers().map(({ pid }) => pid)
    const brain = up.brain()!.pid
    trial.after(() => resume(brain))
    for (let i = 0; i < 3; i++) {
      process.kill(brain, 'SIGSTOP')
      await delay(4_000)
      resume(brain)
      // The next pause begins before the overload watch takes another reading.
      await innocents.more(8)
    }
    await innocents.more(240)
    await delay(3_000)
    const after = up.workers().map(({ pid }) => pid)
    trial.check(
      before.every((pid) => after.includes(pid)),
      `workers were ${before} and are ${after}`,
    )
  },
}

function resume(pid: number): void {
  try {
    process.kill(pid, 'SIGCONT')
  } catch {
    // It has ended.
  }
}

export const brainKills: Experiment = {
  name: 'brain-kills',
  about: 'the brain is killed three times under load',
  limitMs: 90_000,
  async run(trial) {
    const up = await trial.start({ flags: ['--min', '2', '--max', '2'] })
    up.killsBrain = true
    const innocents = trial.innocents(up, { slowMs: 20_000, mayBeUnknown: true })
    await innocents.more(40)
    for (let i = 0; i < 3; i++) {
      const brain = await brainOf(up)
      trial.check(brain !== up.pid, 'the brain is the main process, whose death ends everything')
      process.kill(brain, 'SIGKILL')
      await until('another brain serves', async () => {
        if (up.isDead) throw new Error('the main process has ended')
        const now = up.brain()?.pid
        return now !== undefined && now !== brain && (await up.state().catch(() => undefined)) !== undefined
      })
      await innocents.more(30)
    }
    // Workers of the old brain end with it, or join the new one.
    for (const { names } of (await up.state()).steps) for (const name of names) up.killedWorkers.add(name)
    trial.check(!up.fronts().some(({ pid }) => pid === up.pid), 'the door is in the main process')
  },
}

async function brainOf(up: Up): Promise<number> {
  await until('the brain is up', () => up.brain() !== undefined)
  return up.brain()!.pid
}

export const takenId: Experiment = {
  name: 'taken-id',
  about: 'a second worker with the id of the first, and one with an invalid id',
  async run(trial) {
    const up = await trial.start()
    const innocents = trial.innocents(up)
    await innocents.more(20)
    const { id, pid } = (await up.state()).workers[0]!
    const workloads = join(import.meta.dirname, '..', '..', 'support', 'hostile', 'workloads.ts')
    const join2 = (name: string) =>
      joinedWorker(trial, up, ['--id', name, '--workloads', workloads, '--data', join(up.folder, 'second')])
    const taken = await join2(id)
    trial.check(taken.code !== 0, `the second worker ended with ${taken.code}`)
    trial.check(taken.said.includes(id), `it said: ${taken.said.slice(-300)}`)
    const odd = await join2('../no such id')
    trial.check(odd.code !== 0 && /id/.test(odd.said), `invalid id: ${odd.code}, ${odd.said.slice(-300)}`)
    await innocents.more(40)
    const [first] = (await up.state()).workers
    trial.check(first?.id === id && first.pid === pid, `the first worker is now ${first?.id} ${first?.pid}`)
    trial.check(
      up.lines.some((line) => line.includes(id) && /refused|taken|already/.test(line)),
      'the log does not mention the refusal',
    )
  },
}

async function joinedWorker(
  trial: Trial,
  up: Up,
  flags: string[],
): Promise<{ code: number | string; said: string }> {
  const child = up.command('worker', ...up.joinFlags('worker'), ...flags)
  trial.after(() => child.kill('SIGKILL'))
  let said = ''
  for (const output of [child.stdout!, child.stderr!])
    output.setEncoding('utf8').on('data', (part: string) => {
      said += part
    })
  const ended = once(child, 'close').then(([code, signal]) => code ?? signal)
  const code = await within(15_000, 'the worker ends', ended).catch((error: Error) => error.message)
  return { code, said }
}

export const escapedChildren: Experiment = {
  name: 'escaped-children',
  about: 'jobs start processes in sessions of their own; one is cancelled, then the cluster stops',
  async run(trial) {
    const up = await trial.start()
    const innocents = trial.innocents(up)
    const pidIn = async (file: string) => {
      const path = join(up.dataDir, file)
      await until('the process runs', () => existsSync(path) && readFileSync(path, 'utf8') !== '')
      const pid = Number(readFileSync(path, 'utf8'))
      trial.after(() => end(pid))
      return pid
    }
    const socket = await dial(up.port)
    socket.write('GET /escape?file=one&wait=yes HTTP/1.1\r\nHost: x\r\n\r\n')
    const one = await pidIn('one')
    socket.destroy()
    await until('the process of the cancelled job is ended', () => !isAlive(one), 10_000).catch(
      (error: Error) => trial.check(false, error.message),
    )
    const socket2 = await dial(up.port)
    socket2.write('GET /escape?file=two&wait=yes HTTP/1.1\r\nHost: x\r\n\r\n')
    const two = await pidIn('two')
    await innocents.more(20)
    await innocents.stop()
    await up.stop()
    await until('the process of the last job is ended', () => !isAlive(two), 10_000).catch((error: Error) =>
      trial.check(false, error.message),
    )
  },
}

function end(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended.
  }
}

export const longRestart: Experiment = {
  name: 'restart-long',
  about: 'a restart of all fronts while requests of 40 s run at them',
  limitMs: 150_000,
  inBackground: true,
  async run(trial) {
    const up = await trial.start({ flags: ['--fronts', '3', '--min', '1', '--max', '1'] })
    const innocents = trial.innocents(up, { clients: 2, pauseMs: 100, slowMs: 10_000 })
    const long = Array.from({ length: 12 }, () =>
      exchange(`${up.url}/nap?ms=40000`, 'GET', false, { timeoutMs: 120_000 }),
    )
    await until('they run', async () => (await up.state()).jobs >= 12)
    const restart = up.command('restart', '--fronts', '--admin', up.adminUrl)
    let said = ''
    for (const output of [restart.stdout!, restart.stderr!])
      output.setEncoding('utf8').on('data', (part: string) => {
        said += part
      })
    const [code] = await within(110_000, 'the restart ends', once(restart, 'close'))
    trial.check(code === 0, `restart ended with ${code}: ${said.slice(-300)}`)
    const answers = await Promise.all(long)
    const bad = answers.filter(({ status, body }) => status !== 200 || body !== '40000')
    trial.check(
      bad.length === 0,
      `${bad.length} of 12 long requests failed: ${bad[0]?.status} ${bad[0]?.body.slice(0, 200)}`,
    )
    await innocents.more(20)
  },
}

export const orphanFronts: Experiment = {
  name: 'orphan-fronts',
  about: 'the brain is killed in the middle of a rolling restart of three fronts',
  limitMs: 90_000,
  async run(trial) {
    const up = await trial.start({ flags: ['--fronts', '3', '--min', '1', '--max', '1'] })
    up.killsBrain = true
    const innocents = trial.innocents(up, { slowMs: 20_000, mayBeUnknown: true })
    const settled = up.fronts().length
    const before = new Set(up.fronts().map(({ pid }) => pid))
    const restart = up.command('restart', '--fronts', '--admin', up.adminUrl)
    trial.after(() => restart.kill('SIGKILL'))
    await until('a successor starts', () => up.fronts().some(({ pid }) => !before.has(pid)))
    process.kill(await brainOf(up), 'SIGKILL')
    await delay(1_000)
    if (up.isDead) return
    await until('another brain serves', async () => (await up.state().catch(() => undefined)) !== undefined)
    await until('as many fronts as before', () => up.fronts().length === settled, 30_000).catch(() =>
      trial.check(false, `${up.fronts().length} fronts, not ${settled}`),
    )
    await innocents.more(30)
    const known = new Set((await up.state()).fronts.map(({ pid }) => pid))
    const orphans = up.fronts().filter(({ pid }) => !known.has(pid))
    trial.check(orphans.length === 0, `${orphans.length} fronts are not known to the brain`)
    for (const { names } of (await up.state()).steps) for (const name of names) up.killedWorkers.add(name)
  },
}

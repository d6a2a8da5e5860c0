/**
 * New code under load, with real processes: code is edited ten times, and each time a worker is killed with SIGKILL. Then
 * broken versions are written, and a worker is killed for each. No request may fail. `npm run check:new-code` runs it for
 * a workload and for an existing server, brought by `up --watch`, by `plimsoll restart` and by SIGHUP.
 */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import type { Project, RunningUp } from '../support/edits.ts'
import { serverProject, startUp, workloadProject } from '../support/edits.ts'
import { cli } from '../support/live.ts'
import { steadyLoad } from '../support/steady-load.ts'

type Way = 'watch' | 'restart' | 'SIGHUP'

export interface EditsResult {
  kind: Project['kind']
  way: Way
  workers: number
  edits: number
  kills: number
  answered: number
  failed: string[]
  /** From each edit to the first answer of the new version, in ms. */
  changeMs: number[]
  /** Per broken version: the line of the log that names its error. */
  refusals: Record<string, string>
}

const limitMs = 120_000
const expectedIn: Readonly<Record<string, RegExp>> = {
  'syntax error': /SyntaxError/,
  'throws at load': /text\.m?[jt]s:2/,
  'exits at load': /exited with code 3|giving up/,
  'exits at once': /exited at once with code 3/,
}

export async function editUnderLoad(
  project: Project,
  way: Way,
  { edits, workers }: { edits: number; workers: number },
  clients = 3,
): Promise<EditsResult> {
  const up = await startUp(project, workers, way === 'watch' ? ['--watch'] : [])
  const path = project.kind === 'workload' ? '/work' : '/'
  const load = steadyLoad(`${up.url}${path}`, clients, /^v\d+$/)
  const result: EditsResult = {
    ...{ kind: project.kind, way, workers, edits, kills: 0, answered: 0, failed: load.errors, changeMs: [] },
    refusals: {},
  }
  const bring = () => bringNewCode(way, up)
  try {
    for (let i = 1; i <= edits; i++) {
      const began = performance.now()
      project.write(`v${i}`)
      // At different times during the change.
      const killed = delay(i % 2 ? 0 : 150 * i).then(() => killWorker(up))
      await Promise.all([bring(), killed])
      result.kills += await killed
      await until(`v${i} is served`, async () => (await (await fetch(`${up.url}${path}`)).text()) === `v${i}`)
      result.changeMs.push(Math.round(performance.now() - began))
      await settled(up, i, workers)
    }
    for (const [why, breakIt] of Object.entries(project.breakIt)) {
      const from = up.lines.length
      breakIt()
      await bring()
      result.kills += await killWorker(up)
      await until(`${why} is refused`, () => up.lines.slice(from).some((line) => line.includes('refused')))
      result.refusals[why] = up.lines.slice(from).find((line) => expectedIn[why]!.test(line)) ?? 'NOT NAMED'
      await until('all workers are ready', async () => (await stateOf(up)).ready === workers)
      const body = await (await fetch(`${up.url}${path}`)).text()
      if (body !== `v${edits}`) load.errors.push(`after ${why}: ${body}`)
    }
  } catch (cause) {
    const last = up.lines.slice(-40).join('\n')
    throw new Error(`${project.kind}, ${way}, ${workers} workers; the log ends with:\n${last}`, { cause })
  } finally {
    await load.stop()
    result.answered = load.answered
    await up.stop()
  }
  return result
}

/** No restart is in progress and all workers are ready: the next edit is a change of its own. */
async function settled(up: RunningUp, count: number, workers: number): Promise<void> {
  const served = () => up.lines.filter((line) => /the new version \S+ is served/.test(line)).length
  await until('the change is over', async () => served() >= count && (await stateOf(up)).ready === workers)
}

async function bringNewCode(way: Way, up: RunningUp): Promise<void> {
  if (way === 'watch') return
  if (way === 'SIGHUP') return void up.process.kill('SIGHUP')
  const args = [cli, 'restart', '--admin', up.adminUrl, '--data', up.data]
  const restart = spawn(process.execPath, args, { stdio: 'ignore' })
  await once(restart, 'exit')
}

interface State {
  ready: number
  workers: { pid?: number; state: string }[]
}

async function stateOf({ adminUrl }: RunningUp): Promise<State> {
  return (await (await fetch(`${adminUrl}/api/state`)).json()) as State
}

/** Kills a ready worker; 0: none was ready. */
async function killWorker(up: RunningUp): Promise<number> {
  const worker = (await stateOf(up)).workers.find(({ state, pid }) => state === 'ready' && pid !== undefined)
  if (!worker) return 0
  try {
    process.kill(worker.pid!, 'SIGKILL')
    return 1
  } catch (error) {
    // It has drained and ended since: another one is killed.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
    return killWorker(up)
  }
}

async function until(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
  const limit = performance.now() + limitMs
  while (!(await isSo())) {
    if (performance.now() > limit) throw new Error(`timed out waiting until ${what}`)
    await delay(20)
  }
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { edits: { type: 'string', default: '10' } } })
  const runs = [
    ['watch', Number(values.edits), 2],
    ['watch', 3, 1],
    ['restart', 3, 2],
    ['SIGHUP', 3, 2],
  ] as const
  const sum = { edits: 0, kills: 0, broken: 0, unnamed: 0, answered: 0, failed: 0 }
  for (const projectOf of [workloadProject, serverProject]) {
    for (const [way, edits, workers] of runs) {
      const project = projectOf()
      try {
        const result = await editUnderLoad(project, way, { edits, workers })
        const { refusals, failed } = result
        console.log(JSON.stringify({ ...result, failed: failed.length, errors: failed.slice(0, 5) }))
        sum.edits += result.edits
        sum.kills += result.kills
        sum.answered += result.answered
        sum.failed += failed.length
        sum.broken += Object.keys(refusals).length
        sum.unnamed += Object.values(refusals).filter((line) => line === 'NOT NAMED').length
      } finally {
        project.remove()
      }
    }
  }
  console.log(JSON.stringify(sum))
  process.exitCode = sum.failed + sum.unnamed === 0 ? 0 : 1
}

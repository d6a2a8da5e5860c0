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
  edits: number,
  clients = 3,
): Promise<EditsResult> {
  const up = await startUp(project, way === 'watch' ? ['--watch'] : [])
  const path = project.kind === 'workload' ? '/work' : '/'
  const load = steadyLoad(`${up.url}${path}`, clients, /^v\d+$/)
  const result: EditsResult = {
    ...{ kind: project.kind, way, edits, kills: 0, answered: 0, failed: load.errors, changeMs: [] },
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
      await settled(up, i)
    }
    for (const [why, breakIt] of Object.entries(project.breakIt)) {
      const from = up.lines.length
      breakIt()
      await bring()
      result.kills += await killWorker(up)
      await until(`${why} is refused`, () => up.lines.slice(from).some((line) => line.includes('refused')))
      result.refusals[why] = up.lines.slice(from).find((line) => expectedIn[why]!.test(line)) ?? 'NOT NAMED'
      await until('both workers are ready', async () => (await stateOf(up)).ready === 2)
      const body = await (await fetch(`${up.url}${path}`)).text()
      if (body !== `v${edits}`) load.errors.push(`after ${why}: ${body}`)
    }
  } finally {
    await load.stop()
    result.answered = load.answered
    await up.stop()
  }
  return result
}

/** No restart is in progress and both workers are ready: the next edit is a change of its own. */
async function settled(up: RunningUp, count: number): Promise<void> {
  const served = () => up.lines.filter((line) => line.includes('served now')).length
  await until('the change is over', async () => served() >= count && (await stateOf(up)).ready === 2)
}

async function bringNewCode(way: Way, up: RunningUp): Promise<void> {
  if (way === 'watch') return
  if (way === 'SIGHUP') return void up.process.kill('SIGHUP')
  const restart = spawn(process.execPath, [cli, 'restart', '--admin', up.adminUrl], { stdio: 'ignore' })
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
  process.kill(worker.pid!, 'SIGKILL')
  return 1
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
  let failed = 0
  for (const projectOf of [workloadProject, serverProject]) {
    for (const way of ['watch', 'restart', 'SIGHUP'] as const) {
      const project = projectOf()
      try {
        const result = await editUnderLoad(project, way, way === 'watch' ? Number(values.edits) : 3)
        failed +=
          result.failed.length + Object.values(result.refusals).filter((line) => line === 'NOT NAMED').length
        console.log(
          JSON.stringify(
            { ...result, failed: result.failed.length, errors: result.failed.slice(0, 5) },
            null,
            1,
          ),
        )
      } finally {
        project.remove()
      }
    }
  }
  process.exitCode = failed === 0 ? 0 : 1
}

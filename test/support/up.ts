/** `plimsoll up` in processes of its own: a supervisor, a brain and fronts, all of which end with their test. */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { TestContext } from 'node:test'
import type { RestartEnd, RestartStep } from '../../src/admin/restart.ts'
import type { ClusterState } from '../../src/live/cluster.ts'
import { cli, fixtures, until } from './live.ts'
import { descendants, isAlive } from './processes.ts'

export interface Up {
  process: ChildProcess
  url: string
  adminUrl: string
  dataDir: string
  /** Its output so far. */
  lines: string[]
  brain(): number
  /** Undefined: there is none. */
  keeper(): number | undefined
  /** Process ids of all fronts, also of fronts that leave. */
  fronts(): number[]
  state(): Promise<ClusterState>
  /** Creates the file that a workload waits for. */
  open(gate: string): void
  /** A restart of the fronts: its steps, with the last line. */
  roll(): Promise<(RestartStep | RestartEnd)[]>
}

/** Resolves when it is ready. */
export async function startUp(t: TestContext, ...args: string[]): Promise<Up> {
  const dataDir = mkdtempSync(join(tmpdir(), 'plimsoll-up-'))
  const places = ['--port', '0', '--admin-port', '0', '--data', dataDir, '--stop-after', '1']
  const served = args.includes('--config') || args.includes('--workloads') ? [] : ['--workloads', fixtures]
  const all = [cli, 'up', ...places, '--min', '1', '--max', '1', ...served, ...args]
  const child = spawn(process.execPath, all, { stdio: ['ignore', 'pipe', 'pipe'] })
  const lines: string[] = []
  const found = { requests: '', admin: '' }
  for (const output of [child.stdout, child.stderr]) {
    createInterface({ input: output }).on('line', (line) => {
      lines.push(line)
      const [, key, url] = /^ {2}(requests|admin) +(https?:\/\/[^/]+)/.exec(line) ?? []
      if (key) found[key as keyof typeof found] = url!
    })
  }
  const processes = () => descendants(child.pid!)
  t.after(async () => {
    const left = processes().map(({ pid }) => pid)
    child.kill('SIGKILL')
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    await until(() => !left.some(isAlive), 'all its processes have ended')
    rmSync(dataDir, { recursive: true, force: true, maxRetries: 5 })
  })
  const isReady = () => lines.some((line) => line.includes('Try:'))
  await until(() => isReady() || child.exitCode !== null, 'up is ready')
  if (!isReady()) throw new Error(lines.join('\n'))
  const { requests: url, admin: adminUrl } = found
  return {
    ...{ process: child, url, adminUrl, dataDir, lines },
    brain: () => processes().find(({ command }) => command.includes(' --supervised '))!.pid,
    keeper: () => processes().find(({ command }) => / keeper ?$/.test(command))?.pid,
    fronts: () => processes().flatMap(({ pid, command }) => (/ front --shared /.test(command) ? [pid] : [])),
    state: async () => (await (await fetch(`${adminUrl}/api/state`)).json()) as ClusterState,
    open: (gate) => writeFileSync(join(dataDir, gate), ''),
    async roll() {
      const answer = await fetch(`${adminUrl}/api/restart`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          authorization: `Bearer ${readFileSync(join(dataDir, 'tokens', 'operator'), 'utf8').trim()}`,
        },
        body: '{"fronts":true,"workers":false}',
      })
      const text = await answer.text()
      return text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as RestartStep | RestartEnd)
    },
  }
}

/** Waits for a brain that can be asked, and that says this of itself. */
export async function untilState(
  up: Up,
  isSo: (state: ClusterState) => boolean,
  what: string,
): Promise<void> {
  const limit = performance.now() + 60_000
  for (;;) {
    const state = await up.state().catch(() => undefined)
    if (state && isSo(state)) return
    if (performance.now() > limit)
      throw new Error(`timed out waiting until ${what}:\n${up.lines.slice(-20).join('\n')}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

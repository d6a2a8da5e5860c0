/** A live cluster of a preset for tests: its policies, constants and workloads, on a few workers. */

import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { partsOf } from '../../src/cli/cluster/preset.ts'
import type { ClusterOptions } from '../../src/live/cluster.ts'
import { presetOf } from '../../src/systems/presets.ts'
import { cli, type Live, startLive, stopLive } from './live.ts'

const workloads = join(import.meta.dirname, '..', '..', 'workloads')

export interface PresetLive {
  timeScale?: number
  workScale?: number
  min?: number
  max?: number
  /** Resolve only when a worker is ready. */
  wait?: boolean
  more?: Partial<ClusterOptions>
}

export async function livePreset(t: TestContext, name: string, options: PresetLive): Promise<Live> {
  const { timeScale = 1, workScale = 1, wait = true, more } = options
  const preset = presetOf(name, { timeScale, workScale })
  const min = options.min ?? preset.scale?.min ?? 1
  const max = options.max ?? preset.scale?.max ?? min
  const { overflow, meter } = preset
  const command = [process.execPath, cli, 'function']
  const parts = partsOf(preset)
  const live = await startLive(
    {
      files: (preset.workloads ?? []).map((workload) => join(workloads, `${workload}.ts`)),
      ...parts,
      ...(meter && { meter }),
      ...{ min, max, scale: { ...preset.scale, min, max } as ClusterOptions['scale'] & object },
      ...{ slots: 17, queue: 1000, jobMemoryMb: 512 },
      ...(overflow && { functions: { most: overflow.concurrency, command, brain: overflow } }),
      ...more,
      limits: { ...parts.limits, ...more?.limits },
    },
    wait,
  )
  t.after(() => stopLive(live))
  return live
}

/** Prints the steps of the fleet. */
export function tellSteps(t: TestContext, live: Live): void {
  for (const { text } of live.state().steps) t.diagnostic(text)
}

/** A preset's brain in virtual time, with workers like its machine. */

import { only, Trial } from '../../brain/testing/trial.ts'
import type { Action } from '../../model/action.ts'
import { presetOf } from '../presets.ts'

export class PresetTrial extends Trial {
  readonly machine: { workPerSecond: number; cores: number; bootMs: number }
  #joined = 0
  readonly #cpuMs = new Map<string, number>()

  /** `other`: a machine in place of the preset's. */
  constructor(name: string, scale: { min?: number; max?: number } = {}, other?: PresetTrial['machine']) {
    const preset = presetOf(name)
    const { scheduler, placing, discipline, scale: own, limits, overflow } = preset
    const machine = other ?? preset.machine!
    super({
      ...{ scheduler, discipline, scale: { ...own!, ...scale } },
      limits: { ...limits!, missedBeats: 1e9, freshMs: 1e9 },
      ...(placing && { placing }),
      ...(overflow && { overflow: { workPerSecond: machine.workPerSecond, coldMs: 0, ...overflow } }),
    })
    this.machine = machine
    this.tick()
  }

  /** All launches join, as a, b, c … */
  boots(slots = 1000): Action[] {
    const { workPerSecond, cores } = this.machine
    const facts = { workPerSecond, cores, memoryMb: 1e6, slots }
    return this.view.booting.flatMap((launch) =>
      this.joins(String.fromCharCode(97 + this.#joined++), facts, { launch }),
    )
  }

  /** Advances time in steps of `stepMs`; at each, all workers report this CPU share, and answer pings. */
  lives(ms: number, cpu: number | Record<string, number>, stepMs = 1000): Action[] {
    const actions: Action[] = []
    for (let left = ms; left > 0; left -= stepMs) {
      this.after(stepMs)
      for (const { id, cores, jobs } of this.view.workers) {
        const part = typeof cpu === 'number' ? cpu : (cpu[id] ?? 0)
        const held = jobs.map(({ job }) => this.held(job))
        const cpuMs = (this.#cpuMs.get(id) ?? 0) + stepMs * cores * part
        this.#cpuMs.set(id, cpuMs)
        actions.push(...this.reportsCpu(id, cpuMs, held))
      }
      actions.push(...this.tick())
      for (const { id } of this.view.workers) actions.push(...this.answersPings(id))
    }
    return actions
  }
}

/** Launches, drains and terminations, in order. */
export function steps(actions: readonly Action[]): string[] {
  return actions.flatMap((action) => {
    if (action.type === 'launch') return ['launch']
    if (action.type === 'drain' || action.type === 'terminate') return [`${action.type} ${action.worker}`]
    return []
  })
}

export const launches = (actions: readonly Action[]) => only(actions, 'launch').length

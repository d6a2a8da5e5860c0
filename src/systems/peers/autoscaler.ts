/** The autoscaler beside balancers that do not scale: Kubernetes' horizontal pod autoscaler, as it is without settings. */

import type { Preset, Scales } from '../preset.ts'

/** The machines of a peer are not known: live as many as `up` allows, simulated up to this many. */
export const most = 64

export function besideBalancer({ ms }: Scales): Pick<Preset, 'scale' | 'simulatedMax'> {
  return {
    scale: {
      ...{ policy: 'hpa', min: 1, max: most, target: 0.8 },
      ...{ syncMs: ms(15_000), stabiliseDownMs: ms(300_000) },
    },
    simulatedMax: true,
  }
}

export const autoscalerWords =
  'A balancer does not scale: beside it runs the HPA of Kubernetes at its default, 80 % CPU. --scale fixed: none.'

/** The most requests at once on a worker whose proxy sets no limit. Each needs a process, so that there is a bound. */
export const unlimitedSlots = 64

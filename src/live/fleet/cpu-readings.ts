/** Reads the CPU utilisation of workers from their provider's monitoring, when the brain asks for it. */

import { readCpu } from '../../aws/cloudwatch/cpu-metrics.ts'
import type { Event } from '../../model/event.ts'
import type { Machines } from './machines.ts'
import type { SpareFleet } from './spares.ts'

export interface CpuReadingsParts {
  machines: Pick<Machines, 'cloudWatch' | 'machineOf'>
  fleet: Pick<SpareFleet, 'startedAs'>
  workers(): readonly { id: string }[]
  launchOf(worker: string): string | undefined
  tell(event: Event): void
  log(line: string): void
}

/** Undefined: workers report their CPU time themselves. A reading that fails is logged once, until one succeeds. */
export function readCpuOf({ machines, fleet, ...parts }: CpuReadingsParts): (() => void) | undefined {
  const { cloudWatch } = machines
  if (!cloudWatch) return undefined
  const { workers, launchOf, tell, log } = parts
  let isPending = false
  let reported = ''

  async function read(): Promise<void> {
    const byMachine = new Map<string, string>()
    for (const { id } of workers()) {
      const launch = launchOf(id)
      const machine = launch === undefined ? undefined : machines.machineOf(fleet.startedAs(launch))
      if (machine !== undefined) byMachine.set(machine, id)
    }
    if (byMachine.size === 0) return
    const found = await readCpu(cloudWatch!, [...byMachine.keys()], Date.now())
    const shares = [...found].map(([machine, share]) => ({ worker: byMachine.get(machine)!, share }))
    if (shares.length > 0) tell({ type: 'cpu-read', shares })
  }

  return () => {
    if (isPending) return
    isPending = true
    read()
      .then(
        () => {
          reported = ''
        },
        ({ message }: Error) => {
          if (message !== reported) log(`fleet: no CPU figures: ${message}`)
          reported = message
        },
      )
      .finally(() => {
        isPending = false
      })
  }
}

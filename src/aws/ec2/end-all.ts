/** Terminates all instances of a cluster. */

import { AwsError } from '../aws-error.ts'
import type { Ec2Api } from './api.ts'

/** Between two lists, and how many there are at most. */
const [everyMs, mostLists] = [1_000, 120]

export interface EndAllParts {
  /** Instances that lists may not name yet. */
  known: readonly string[]
  wait(ms: number): Promise<void>
  log(line: string): void
}

/** Resolves when AWS has begun to terminate all instances, or logs which are left. */
export async function endAll(api: Ec2Api, { known, wait, log }: EndAllParts): Promise<void> {
  let left: readonly string[] = known
  let problem = ''
  for (let lists = 0; lists < mostLists; lists++) {
    if (lists > 0) await wait(everyMs)
    try {
      const machines = await api.machines()
      const ended = new Set(machines.filter(({ isEnded }) => isEnded).map(({ id }) => id))
      left = [...new Set([...known, ...machines.map(({ id }) => id)])].filter((id) => !ended.has(id))
      if (left.length === 0) return
      for (const id of left) await terminateOne(api, id)
      problem = ''
    } catch (error) {
      problem = `: ${(error as Error).message}`
    }
  }
  const which = left.length > 0 ? `instances ${left.join(', ')}` : 'instances'
  log(`fleet: ${which} may be left; terminate them with the AWS CLI${problem}`)
}

/** An instance that AWS does not know has ended, or is too new to be known everywhere: then lists will name it. */
export async function terminateOne(api: Ec2Api, id: string): Promise<void> {
  try {
    await api.terminate(id)
  } catch (error) {
    if (!(error instanceof AwsError && error.kind === 'gone')) throw error
  }
}

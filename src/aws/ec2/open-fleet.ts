/** Opens a fleet: checks at the start what would otherwise fail with the first launch, and finds what an earlier brain left. */

import { ConfigError } from '../../lib/errors.ts'
import type { ProviderEvents } from '../../model/provider.ts'
import { AwsError } from '../aws-error.ts'
import { repeated, waitFor } from '../repeat.ts'
import type { Ec2Api, Machine } from './api.ts'
import { choicesOf } from './choices.ts'
import { Ec2Fleet } from './ec2-fleet.ts'
import { sdkApi } from './sdk-api.ts'
import type { Ec2Settings } from './settings.ts'
import { mostUserData, userData } from './user-data.ts'

export interface OpenedFleet {
  region: string
  /** Machines that carry the cluster's tag already. */
  left: readonly Machine[]
  fleet(parts: { events: ProviderEvents; log(line: string): void }): Ec2Fleet
}

/** For calls at the start. */
const patience = { most: 4, wait: waitFor, random: Math.random }

/** A launch that exists only to be checked. */
const trialLaunch = '0-0'

/** Rejects with a `ConfigError`. `isFirst`: launches are checked too. */
export async function openFleet(
  settings: Ec2Settings,
  token: string,
  isFirst: boolean,
): Promise<OpenedFleet> {
  const script = userData(settings, { launch: trialLaunch, token })
  if (Buffer.byteLength(script) > mostUserData)
    throw new ConfigError(
      `--ec2-user-data: has ${Buffer.byteLength(script)} bytes when filled in: must be at most ${mostUserData}`,
    )
  try {
    const api = await sdkApi(settings)
    const left = (await repeated(patience, () => api.machines())).filter(({ isEnded }) => !isEnded)
    if (isFirst) await repeated(patience, () => tryLaunch(api, settings, script))
    return {
      ...{ region: api.region, left },
      fleet: (parts) => new Ec2Fleet({ ...parts, api, settings, token, left }),
    }
  } catch (error) {
    if (error instanceof AwsError) throw new ConfigError(`--fleet = ec2: ${error.message}`, { cause: error })
    throw error
  }
}

/** Whether there is capacity is known only at a launch. */
async function tryLaunch(api: Ec2Api, { types, subnets }: Ec2Settings, script: string): Promise<void> {
  const [choice] = choicesOf(types, subnets).inOrder(0)
  try {
    await api.tryRun({ launch: trialLaunch, choice: choice!, clientToken: '', userData: script })
  } catch (error) {
    if (!(error instanceof AwsError && error.kind === 'capacity')) throw error
  }
}

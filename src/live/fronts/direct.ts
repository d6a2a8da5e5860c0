/** The direct path of a front, and its reports to the brain. */

import { DirectPath, type DirectPathParts } from '../../front/direct/direct-path.ts'
import { DirectReports } from '../../front/direct/report.ts'
import type { WorkloadRequestsParts } from '../../front/direct/workload-requests.ts'
import type { DirectOrder } from '../../wire/direct.ts'
import type { FrontLimits } from '../../wire/front-settings.ts'
import { changingRequests, type Serving } from '../serving.ts'
import type { BrainLink } from './brain-link.ts'

export interface FrontDirect {
  path: DirectPath
  /** Undefined: nothing is delegated. */
  update(order: DirectOrder | undefined): void
  /** Further requests take the general path. */
  leave(): void
  /** Sends the last report. Idempotent. */
  close(): void
}

const nothing: DirectOrder = { seq: 0, names: [], workers: [] }

export type FrontDirectParts = Omit<DirectPathParts, 'requests' | 'stands'> &
  Pick<WorkloadRequestsParts, 'quantities' | 'reach'> & { limits: FrontLimits }

export function openDirect(
  serving: Serving,
  link: Pick<BrainLink, 'isUp' | 'send'>,
  { quantities, reach, limits, ...parts }: FrontDirectParts,
): FrontDirect {
  const reports = new DirectReports({
    isUp: () => link.isUp,
    send: (report) => link.send({ type: 'direct', ...report }),
  })
  const requests = changingRequests(serving, {
    reports,
    ...{ quantities, reach, limits },
    log: parts.log,
  })
  const path = new DirectPath({
    ...{ ...parts, requests },
    stands: (standing) => link.send({ type: 'direct-standing', ...standing }),
  })
  return {
    path,
    update: (order = nothing) => path.update(order),
    leave: () => path.close(),
    close() {
      path.close()
      reports.flush()
      reports.close()
    },
  }
}

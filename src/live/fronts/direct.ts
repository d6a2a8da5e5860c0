/** The direct path of a front process, and its reports to the brain. */

import { DirectPath, type DirectPathParts } from '../../front/direct/direct-path.ts'
import { DirectReports } from '../../front/direct/report.ts'
import type { DirectOrder } from '../../wire/direct.ts'
import { directRequestsOf, type Serving } from '../serving.ts'
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

const nothing: DirectOrder = { names: [], workers: [] }

/** Undefined: nothing that is served here can be sent directly. */
export function openDirect(
  serving: Serving,
  link: Pick<BrainLink, 'isUp' | 'send'>,
  { log, ...parts }: Omit<DirectPathParts, 'requests'> & { log(line: string): void },
): FrontDirect | undefined {
  const reports = new DirectReports({
    isUp: () => link.isUp,
    send: (report) => link.send({ type: 'direct', ...report }),
  })
  const requests = directRequestsOf(serving, { reports, log })
  if (!requests) return undefined
  const path = new DirectPath({ ...parts, requests })
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

/** What is known of a front that has joined, and its jobs. */

import { randomUUID } from 'node:crypto'
import type { OverloadStatus } from '../../model/overload.ts'
import type { FrontConnection } from '../../wire/accept.ts'
import type { FromFront, FrontHello, ToFront } from '../../wire/front-messages.ts'
import { Session } from '../../wire/session.ts'
import type { RemoteJob } from './remote-job.ts'

export interface Joined {
  hello: FrontHello
  session: Session<FromFront, ToFront>
  name: string
  connection: FrontConnection | undefined
  lastMessageAt: number
  jobs: Map<string, RemoteJob>
  accepted: number
  shared: number
  phase: 'starting' | 'ready' | 'leaving'
  url: string | undefined
  grace: NodeJS.Timeout | undefined
  overload: OverloadStatus | undefined
}

export function joinedFront(hello: FrontHello): Joined {
  return {
    hello,
    session: new Session(),
    name: randomUUID(),
    connection: undefined,
    lastMessageAt: 0,
    jobs: new Map(),
    ...{ accepted: 0, shared: 0 },
    phase: 'starting',
    url: undefined,
    grace: undefined,
    overload: undefined,
  }
}

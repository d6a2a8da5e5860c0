/** What a worker must know of the user's server, as the configuration has checked it. */
import type { CheckedServer } from '../../config/check-server.ts'
import type { UpstreamSettings as CheckedUpstream } from '../../config/server-settings.ts'

/** A program that it starts. */
export type ProgramSettings = CheckedServer

/** One that runs already. Without a path it is enough that a connection can be opened. */
export interface UpstreamSettings extends CheckedUpstream {
  health?: string
}

/** What a worker must know of the user's server, as the configuration has checked it. */
import type { CheckedServer } from '../../config/check-server.ts'

export type { UpstreamSettings } from '../../config/server-settings.ts'

/** A program that it starts. */
export type ProgramSettings = CheckedServer

/** Settings of an existing server, as the configuration has validated them. */
import type { CheckedServer } from '../../config/check-server.ts'

export type { UpstreamSettings } from '../../config/server-settings.ts'

/** For programs that the worker starts. */
export type ProgramSettings = CheckedServer

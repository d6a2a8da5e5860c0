/** The door of a cluster: in this process, or in the one that supervises it. */

import type { Accepting } from './accept.ts'
import type { Core } from './core.ts'
import { frontArgs } from './fleet/worker-command.ts'
import type { Door } from './fronts/door.ts'
import { insideDoor } from './fronts/inside-door.ts'
import { keeperSettings } from './keeper/settings.ts'
import { supervisedDoor } from './supervise/supervised-door.ts'
import type { Versions } from './versions.ts'

/** Time allowed for the requests of a front that was replaced. */
const usualDrainMs = 12 * 3600 * 1000

export interface DoorParts extends Accepting {
  versions: Versions
  /** Where fronts join. */
  adminUrl(): string
}

export function openDoor(
  { plan, records: { log }, stopping }: Core,
  { front, fronts, versions, adminUrl }: DoorParts,
): Door {
  const { options, serving, tokens, limits } = plan
  const protocol = limits.tls ? 'https' : 'http'
  const { host, port, drainMs = usualDrainMs, supervisor } = options
  const settings = () => ({
    args: frontArgs(versions.current, serving.meter, adminUrl()),
    token: tokens.front,
  })
  const gone = (id: string) => fronts.gone(id)
  if (front)
    return insideDoor({
      ...{ server: front.server, host, port, protocol, fronts: options.fronts, drainMs, settings, gone, log },
      flushMs: () => stopping.flushMs(),
    })
  return supervisedDoor({
    link: supervisor!,
    protocol,
    request() {
      const { id, files, config, watched } = versions.current
      const version = { id, files, watched, ...(config !== undefined && { config }) }
      return {
        ...{ host, port, drainMs, count: options.fronts?.count ?? 1 },
        settings: settings(),
        keeper: keeperSettings(options, tokens, adminUrl()),
        memory: {
          brains: (supervisor?.memory?.brains ?? 0) + 1,
          adminPort: Number(new URL(adminUrl()).port),
          version,
        },
      }
    },
    gone,
  })
}

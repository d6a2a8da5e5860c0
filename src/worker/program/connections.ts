/** Connections to one program or upstream. Requests that may be repeated reuse an idle one; the others open their own. */
import type { Agent } from 'node:http'
import { Agent as TlsAgent } from 'node:https'
import { ReadingAgent } from './reading-agent.ts'

/** Idle connections are closed after this time, before most servers would close them. */
const idleMs = 4_000

export interface ConnectionsOptions {
  tls: boolean
  /** The target has one request at a time, and may accept only one connection at a time. */
  single: boolean
}

export class Connections {
  readonly #single: boolean
  readonly #kept: Agent
  readonly #closing: Agent

  constructor({ tls, single }: ConnectionsOptions) {
    this.#single = single
    const AgentClass = tls ? TlsAgent : ReadingAgent
    // The timeout closes idle connections only; a connection may be silent while a job runs.
    this.#kept = new AgentClass({ keepAlive: true, timeout: idleMs, ...(single && { maxFreeSockets: 1 }) })
    this.#closing = new AgentClass()
  }

  /** `reuse`: an idle connection may be used, and is kept afterwards. */
  agent(reuse: boolean): Agent {
    if (reuse) return this.#kept
    if (this.#single) this.closeIdle()
    return this.#closing
  }

  closeIdle(): void {
    for (const sockets of Object.values(this.#kept.freeSockets)) {
      for (const socket of sockets ?? []) socket.destroy()
    }
  }
}

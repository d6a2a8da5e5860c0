/** A steady load of short requests, on kept and on new connections, without retries. */

import { Agent, get } from 'node:http'

export interface SteadyLoad {
  answered: number
  errors: string[]
  /** Resolves when all pending requests are answered. */
  stop(): Promise<void>
}

/** `clients` of each kind, with one request at a time each. `expected`: the required body. */
export function steadyLoad(url: string, clients: number, expected: string | RegExp): SteadyLoad {
  const isRight = (body: string) => (typeof expected === 'string' ? body === expected : expected.test(body))
  const agent = new Agent({ keepAlive: true, maxSockets: clients })
  let open = true
  const load: SteadyLoad = { answered: 0, errors: [], stop }

  const ask = (agent: Agent | false) =>
    new Promise<void>((resolve) => {
      const failed = (what: string) => {
        load.errors.push(what)
        resolve()
      }
      const call = get(url, { agent }, (answer) => {
        const chunks: Buffer[] = []
        answer.on('data', (chunk) => chunks.push(chunk))
        answer.on('error', (error) => failed(`answer: ${error.message}`))
        answer.on('end', () => {
          const body = Buffer.concat(chunks).toString()
          if (answer.statusCode !== 200 || !isRight(body)) return failed(`${answer.statusCode} ${body}`)
          load.answered++
          resolve()
        })
      })
      call.on('error', (error: NodeJS.ErrnoException) =>
        failed(`${error.code ?? error.message}${call.reusedSocket ? ' on a kept connection' : ''}`),
      )
    })

  const loops = Array.from({ length: 2 * clients }, async (_, i) => {
    while (open) await ask(i < clients ? agent : false)
  })

  async function stop(): Promise<void> {
    open = false
    await Promise.all(loops)
    agent.destroy()
  }
  return load
}

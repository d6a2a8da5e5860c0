/** `plimsoll up` on the stand, in processes of its own. */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import type { ClusterState } from '../../../src/live/cluster.ts'
import { sizeText } from '../../../src/story/fleet-story.ts'
import { credentials, type Ec2Stand, region, type StandInstance } from '../../stands/aws/ec2-stand.ts'
import { cli } from '../../support/live.ts'
import { descendants } from '../../support/processes.ts'

/** For one step, on a slow and loaded machine. */
const stepMs = 180_000

export interface UpOptions {
  stand: Ec2Stand
  /** Address of moto. */
  moto: string
  args: readonly string[]
}

export class UpProcess {
  readonly lines: string[] = []
  readonly #options: UpOptions
  #child: ChildProcess

  constructor(options: UpOptions) {
    this.#options = options
    this.#child = this.#start()
  }

  #start(): ChildProcess {
    const { stand, moto, args } = this.#options
    const child = spawn('setpriv', ['--pdeathsig', 'KILL', process.execPath, cli, 'up', ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        ...process.env,
        AWS_REGION: region,
        AWS_ACCESS_KEY_ID: credentials.accessKeyId,
        AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
        AWS_ENDPOINT_URL_EC2: stand.url,
        AWS_ENDPOINT_URL_CLOUDWATCH: moto,
        AWS_EC2_METADATA_DISABLED: 'true',
      },
    })
    for (const output of [child.stdout, child.stderr])
      createInterface({ input: output }).on('line', (line) => this.lines.push(line))
    return child
  }

  /** Its address, once it is ready. */
  async url(): Promise<string> {
    await this.until('the cluster is ready', async () => {
      if (this.#child.exitCode !== null) throw new Error('plimsoll up ended')
      return this.lines.some((line) => line.includes('Try:'))
    })
    return this.#find('requests')
  }

  async state(): Promise<ClusterState> {
    const answer = await fetch(`${this.#find('admin')}/api/state`)
    return (await answer.json()) as ClusterState
  }

  #find(key: string): string {
    const found = this.lines.map((line) => new RegExp(`^ {2}${key} +(http://[^/]+)`).exec(line)?.[1])
    return found.findLast((url) => url !== undefined)!
  }

  /** `isSo` may reject while the brain is away. */
  async until(what: string, isSo: () => Promise<boolean>, limitMs = stepMs): Promise<void> {
    const limit = performance.now() + limitMs
    while (!(await isSo().catch(() => false))) {
      if (performance.now() > limit)
        throw new Error(`timed out waiting until ${what}:\n${await this.#told()}`)
      await delay(200)
    }
  }

  /** For messages of failures. */
  async #told(): Promise<string> {
    const instances = (await this.alive()).map(({ id, launch }) => `${id} of launch ${launch}`)
    const steps = (await this.state().catch(() => undefined))?.steps.slice(-20) ?? []
    const told = steps.map((step) => `${new Date(step.at).toISOString()} ${sizeText(step)}: ${step.text}`)
    return [...instances, ...told, ...this.lines.slice(-25)].join('\n')
  }

  async alive(): Promise<StandInstance[]> {
    return (await this.#options.stand.list()).filter(({ isAlive }) => isAlive)
  }

  /** `count` workers are ready, each on an instance that runs, and nothing is under way. */
  async isSteady(count: number): Promise<boolean> {
    const { ready, booting, draining } = await this.state()
    return ready === count && booting.length === 0 && draining === 0 && (await this.alive()).length === count
  }

  killBrain(): void {
    const brain = descendants(this.#child.pid!).find(({ command }) => command.includes(' --supervised '))
    process.kill(brain!.pid, 'SIGKILL')
  }

  /** The balancer's machine fails and starts again. Its instances stay. */
  async crashAndStart(): Promise<void> {
    await this.#end('SIGKILL')
    this.lines.length = 0
    this.#child = this.#start()
  }

  /** Resolves with its exit code. */
  stop(): Promise<number | null> {
    return this.#end('SIGTERM')
  }

  /** After a failed check. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL')
  }

  async #end(signal: 'SIGTERM' | 'SIGKILL'): Promise<number | null> {
    const child = this.#child
    if (child.exitCode !== null || child.signalCode !== null) return child.exitCode
    child.kill(signal)
    await once(child, 'exit')
    return child.exitCode
  }
}

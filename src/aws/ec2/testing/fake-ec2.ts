/** EC2 in memory: client tokens, lists that lack new machines, and faults. Its fleet needs no real time. */

import { AwsError, type AwsErrorKind } from '../../aws-error.ts'
import type { Ec2Api, Machine, RunRequest } from '../api.ts'
import { Ec2Fleet } from '../ec2-fleet.ts'
import type { Ec2Settings } from '../settings.ts'

export const settings: Ec2Settings = {
  cluster: 'test',
  image: 'ami-1',
  types: ['t3.small', 't3.micro'],
  subnets: [],
  securityGroups: [],
  spot: false,
  detailedMonitoring: false,
  join: '10.0.0.1:8082',
  workerArgs: [],
}

export class FakeEc2 implements Ec2Api {
  readonly region = 'eu-west-1'
  readonly requests: RunRequest[] = []
  readonly terminated: string[] = []
  /** New machines are missing from lists. */
  isLagging = false
  isClosed = false
  readonly #machines = new Map<string, Machine & { isNew: boolean }>()
  readonly #byToken = new Map<string, string>()
  readonly #faults: { call: string; kind: AwsErrorKind; takesEffect: boolean }[] = []

  /** The next call fails. `takesEffect`: only its answer is lost. */
  fails(call: 'run' | 'machines' | 'terminate', kind: AwsErrorKind, takesEffect = false): void {
    this.#faults.push({ call, kind, takesEffect })
  }

  async run(request: RunRequest): Promise<string> {
    this.requests.push(request)
    return this.#call('run', () => {
      const known = this.#byToken.get(request.clientToken)
      if (known !== undefined) return known
      const id = this.add(request.launch)
      this.#byToken.set(request.clientToken, id)
      return id
    })
  }

  async tryRun(): Promise<void> {}

  async machines(launch?: string): Promise<readonly Machine[]> {
    return this.#call('machines', () =>
      [...this.#machines.values()]
        .filter((machine) => launch === undefined || machine.launch === launch)
        .filter(({ isNew }) => !(isNew && this.isLagging)),
    )
  }

  async terminate(id: string): Promise<void> {
    return this.#call('terminate', () => {
      const machine = this.#machines.get(id)
      if (!machine) throw new AwsError('gone', `${id} does not exist`)
      this.terminated.push(id)
      this.ends(id)
    })
  }

  close(): void {
    this.isClosed = true
  }

  /** A machine that this fleet did not launch. */
  add(launch: string): string {
    const id = `i-${this.#machines.size + 1}`
    this.#machines.set(id, { id, launch, isEnded: false, since: 1000, isNew: true })
    return id
  }

  ends(id: string, reason?: string): void {
    const machine = this.#machines.get(id)!
    this.#machines.set(id, { ...machine, isEnded: true, ...(reason !== undefined && { reason }) })
  }

  alive(): string[] {
    return [...this.#machines.values()].filter(({ isEnded }) => !isEnded).map(({ id }) => id)
  }

  #call<T>(call: string, effect: () => T): T {
    const at = this.#faults.findIndex((fault) => fault.call === call)
    const [fault] = at < 0 ? [] : this.#faults.splice(at, 1)
    if (fault && !fault.takesEffect) throw new AwsError(fault.kind, `${call} fails: ${fault.kind}`)
    const result = effect()
    if (fault) throw new AwsError(fault.kind, `${call} fails: ${fault.kind}`)
    return result
  }
}

export interface FakeFleet {
  fleet: Ec2Fleet
  ec2: FakeEc2
  /** What the fleet reports. */
  told: string[]
  /** Pauses that it makes. */
  pauses: number[]
  log: string[]
  /** Lets all calls finish that do not pause. */
  settle(): Promise<void>
  /** The fleet pauses until `resume`. */
  holdPauses(): void
  resume(): void
}

export function fakeFleet({
  left = [],
  ...changes
}: Partial<Ec2Settings> & { left?: Machine[] } = {}): FakeFleet {
  const ec2 = new FakeEc2()
  const [told, log]: [string[], string[]] = [[], []]
  const pauses: number[] = []
  let held: PromiseWithResolvers<void> | undefined
  const fleet = new Ec2Fleet({
    ...{ api: ec2, settings: { ...settings, ...changes }, token: 'secret', left },
    events: {
      launchFailed: (launch, message) => told.push(`${launch} failed: ${message}`),
      gone: (launch, message) => told.push(`${launch} gone: ${message}`),
    },
    log: (line) => log.push(line),
    now: () => 1000,
    random: () => 1,
    wait: async (ms) => {
      pauses.push(ms)
      await held?.promise
    },
  })
  return {
    ...{ fleet, ec2, told, pauses, log },
    settle: async () => {
      for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
    },
    holdPauses() {
      held = Promise.withResolvers()
    },
    resume: () => held?.resolve(),
  }
}

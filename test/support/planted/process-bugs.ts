/** Old behaviours of processes, each with the test that must fail when it returns. */

import { type EditParts, type Planted, planted, seeds } from './plant.ts'

const keepsOldAddress: EditParts = [
  'src/live/joined-workers.ts',
  "if (known && !isSameProcess(known, hello)) this.#forgetEnded(id, 'it was started again')",
  '',
]

export const processBugs: Readonly<Record<string, readonly Planted[]>> = {
  'pauses of the brain': [
    planted(
      'a tick before the sockets are read',
      [
        'src/live/brain-driver.ts',
        'this.#tickAfterReading(now() - this.#pausedAt < pulseMs ? mostReads : 1)',
        "this.tell({ type: 'tick' })",
      ],
      [
        'src/live/brain-driver.test.ts',
        'after a pause the brain is told of it, then of what waited in the sockets, and then ticks',
      ],
    ),
    planted(
      'lateness of the brain that counts as silence',
      ['src/brain/own-pauses.ts', 'return now - at - pauses.since(at)', 'return now - at'],
      ['src/brain/own-pauses.test.ts', 'a pause of the brain does not count as the silence of a worker'],
    ),
    planted(
      'a fleet that is lost at once for its silence',
      ['src/brain/workers/silent-losses.ts', 'if (silent <= most) return', 'if (silent > 0) return'],
      [
        'src/brain/workers/silent-losses.test.ts',
        'if more than half are silent at once, none is lost, and none gets jobs',
      ],
    ),
  ],
  'identity of workers': [
    planted(
      'a second worker with an id in use',
      ['src/live/join.ts', 'badId(id) ?? whyTaken(id, worker(id), hello)', 'badId(id)'],
      ['src/live/join.test.ts', 'the id of a connected worker is free only for the same process'],
    ),
    planted('a restarted worker that keeps its old address', keepsOldAddress, [
      'src/live/joined-workers.test.ts',
      'a worker that starts again under its id replaces the old address at once',
    ]),
    planted('a restarted worker that keeps its old address, by seeds', keepsOldAddress, seeds),
    planted(
      'a second worker with an id in use, by seeds',
      ['src/live/join.ts', 'badId(id) ?? whyTaken(id, worker(id), hello)', 'badId(id)'],
      seeds,
    ),
    planted(
      'an id of any characters',
      ['src/live/join.ts', 'return isId(id) ? undefined', 'return id ? undefined'],
      ['src/live/join.test.ts', 'an id must be short and of plain characters, for workers and fronts'],
    ),
    planted(
      'a worker that ends without a reason',
      ['src/live/joined-workers.ts', "{ type: 'end', message: explain(reason), ...", "{ type: 'end', ..."],
      ['src/live/joined-workers.test.ts', 'a worker is told why it ends, and whether it was given up'],
    ),
    planted(
      'a lost worker that ends with code 0',
      ['src/cli/worker.ts', 'return end.isLost ? lostCode : 0', 'return 0'],
      ['test/long/worker-identity.test.ts', 'a worker that was declared lost ends with code 3 and says why'],
    ),
  ],
  'uncaught exceptions': [
    planted(
      'a program whose start throws',
      [
        'src/worker/processes/start-process.ts',
        '  } catch (error) {\n',
        '  } catch (error) {\n    if (program) throw error\n',
      ],
      [
        'src/worker/processes/start-process.test.ts',
        'a program that is refused by the system is an error event, and nothing is thrown',
      ],
    ),
    planted(
      'a process without streams that ends its parent',
      ['src/worker/processes/start-process.ts', '    if (!input) continue\n', ''],
      [
        'src/live/few-descriptors.test.ts',
        'starts without a free descriptor fail with a message, and later ones succeed',
      ],
    ),
    planted(
      'an event log on a full disk that ends the brain',
      [
        'src/live/event-log-file.ts',
        'outage.failed((error as Error).message, lost)',
        'outage.failed((error as Error).message, lost)\n      throw error',
      ],
      [
        'src/live/event-log-file.test.ts',
        'a log on a device without space stops nothing and is reported once',
      ],
    ),
    planted(
      'an event log on a full disk that ends the brain, by seeds',
      ['src/live/event-log-file.ts', 'outage.failed((error as Error).message, lost)', 'throw error'],
      seeds,
    ),
    planted(
      'an observer that throws and ends the brain',
      [
        'src/live/observers.ts',
        '        hasFailed = true\n',
        '        hasFailed = true\n        throw error\n',
      ],
      ['src/live/observers.test.ts', 'an observer that throws is logged once and stops nothing'],
    ),
  ],
  'front and brain in one process': [
    planted(
      'a supervisor that ends with its brain',
      [
        'src/live/supervise/supervisor.ts',
        'if (code === 0 || this.#stopping || (',
        'if (code !== 0 || this.#stopping || (',
      ],
      [
        'test/long/supervised.test.ts',
        'a killed brain is restarted, and requests that ran or arrived meanwhile are answered',
      ],
    ),
    planted(
      'a front that loses its requests with the brain',
      [
        'src/live/fronts/pending-requests.ts',
        'if (!(isNew && this.#goesOn(entry))) this.#startOver(entry)',
        'entry.exchange.abandon(noBrain())',
      ],
      ['test/long/supervised.test.ts', 'a brain that is killed under load fails no request'],
    ),
  ],
  'rolled fronts': [
    planted(
      'a front that gives up its long requests when it is replaced',
      [
        'src/live/fronts/run-front.ts',
        'options.share?.onLeave((limitMs) => front.leave(limitMs))',
        'options.share?.onLeave(() => front.leave(options.leaveMs))',
      ],
      ['test/long/fronts.test.ts', 'fronts are replaced while requests run, which finish at the old ones'],
    ),
    planted(
      'a front that leaves before its successor listens',
      [
        'src/live/fronts/seat.ts',
        "const hasSuccessor = chosen?.state === 'listening'",
        'const hasSuccessor = chosen !== undefined',
      ],
      ['src/live/fronts/seat.test.ts', 'a front stays until its successor listens, then leaves'],
    ),
  ],
  'orphaned fronts': [
    planted(
      'a successor that was killed and whose front is replaced anyway',
      [
        'src/live/fronts/seat.ts',
        "return fronts.find(({ state }) => state === 'listening')?.generation ?? wanted",
        'return wanted',
      ],
      [
        'src/live/fronts/seat.test.ts',
        'a successor that does not start leaves the seat to the front before it',
      ],
    ),
    planted(
      'old fronts that stay beside their successors',
      ['src/live/fronts/seat.ts', "others.filter(({ state }) => state === 'listening') : []", '[] : []'],
      [
        'src/live/fronts/seat.test.ts',
        'whatever ends at any moment of a replacement, one front stays and the others leave',
      ],
    ),
  ],
  secrets: [
    planted(
      'workloads and programs that see the environment of the operator',
      [
        'src/worker/processes/environment.ts',
        "name.startsWith('LC_')) return true",
        "name !== '') return true",
      ],
      [
        'src/worker/processes/environment.test.ts',
        'only usual variables are passed on unless others are named',
      ],
    ),
    planted(
      'a token among the environment of child processes',
      [
        'src/live/child-environment.ts',
        '  for (const name of Object.values(tokenVariables)) delete env[name]\n',
        '',
      ],
      [
        'src/live/fleet/local.test.ts',
        'a worker reads its token from standard input, and neither its arguments nor its environment show one',
      ],
    ),
    planted(
      'one token for all roles',
      [
        'src/wire/token.ts',
        'if (held.includes(role)) return undefined',
        'if (held.length > 0) return undefined',
      ],
      ['src/wire/token.test.ts', 'the token of one role is refused for another, with both named'],
    ),
    planted(
      'a data folder that others can read',
      ['src/lib/private-files.ts', 'chmodSync(path, mode & privateFolder)', 'chmodSync(path, mode)'],
      [
        'src/lib/private-files.test.ts',
        'access of others to a folder and its contents is taken away, and logged once',
      ],
    ),
    planted(
      'a token file that others can read',
      ['src/live/tokens.ts', '    makePrivateFile(file)\n', ''],
      ['src/live/tokens.test.ts', 'a token file that others can read is made private'],
    ),
  ],
  'admin port': [
    planted(
      'requests for other hosts',
      ['src/admin/guard.ts', 'if (!isLoopback(asked) && !known.includes(asked))', "if (asked === '')"],
      [
        'src/admin/guard.test.ts',
        'a Host header must name this machine, the admin address or an allowed name',
      ],
    ),
    planted(
      'requests of pages of other sites',
      [
        'src/admin/guard.ts',
        "if (isForeign || (site !== undefined && site !== 'same-origin' && site !== 'none'))",
        'if (isForeign && site)',
      ],
      [
        'src/admin/guard.test.ts',
        'requests that a browser sends for another site are refused, and its own requests are not',
      ],
    ),
    planted(
      'changes without a token on loopback',
      [
        'src/admin/guard.ts',
        "isLoopback(host) && (method === 'GET' || method === 'HEAD')",
        'isLoopback(host)',
      ],
      ['src/admin/guard.test.ts', 'changes need the operator token on loopback too, reading only elsewhere'],
    ),
    planted(
      'an admin port without its guard',
      ['src/admin/admin.ts', '  throwIf(operatorRefusal(request, access))\n', ''],
      ['test/admin-port.test.ts', 'a restart needs the operator token, on loopback too'],
    ),
    planted(
      'workers of other machines that join without TLS',
      ['src/admin/guard.ts', 'if (isThisMachine(socket)) return', 'if (socket) return'],
      ['src/admin/guard.test.ts', 'workers and fronts join at the admin port only from this machine'],
    ),
    planted(
      'a join port that accepts every token',
      [
        'src/wire/secure.ts',
        'return token === undefined ? null : tlsKeyOf(token)',
        "return tlsKeyOf(token ?? '')",
      ],
      ['src/wire/secure.test.ts', 'an unknown role is refused with the reason on both sides'],
    ),
  ],
  'slot hygiene': [
    planted(
      'a slot that is reused after its job has changed it',
      [
        'src/worker/slot-process/slot-job.ts',
        'changes.length > 0 && { changes }',
        'changes.length < 0 && { changes }',
      ],
      ['src/worker/slots/slot-state.test.ts', 'a slot whose job leaves a change is not reused: global'],
    ),
  ],
}

/** Old behaviours that seeds of processes in virtual time must find. */

import { type Planted, planted, seeds } from './plant.ts'

export const seedBugs: Readonly<Record<string, readonly Planted[]>> = {
  'pauses of the brain, by seeds': [
    planted(
      'a late brain that declares healthy workers lost',
      [
        'src/live/brain-driver.ts',
        'this.#tickAfterReading(now() - this.#pausedAt < pulseMs ? mostReads : 1)',
        "this.tell({ type: 'tick' })",
      ],
      seeds,
      // Each of the two defences hides that the other is missing.
      ['src/live/brain-driver.ts', 'if (ms < pulseMs) return', 'if (ms < Infinity) return'],
    ),
  ],
  'failed starts, by seeds': [
    planted(
      'a process without streams that ends the supervisor',
      ['src/worker/processes/start-process.ts', '    if (!input) continue\n', ''],
      seeds,
    ),
    planted(
      'a start that throws and ends the supervisor',
      [
        'src/worker/processes/start-process.ts',
        'const failed = new NotStarted()',
        'if (program) throw error\n    const failed = new NotStarted()',
      ],
      seeds,
    ),
    planted(
      'a failed launch of a worker that ends the supervisor',
      [
        'src/live/fleet/worker-processes.ts',
        'if (child.process.pid === undefined) end(error.message)',
        'throw error',
      ],
      seeds,
    ),
    planted(
      'a brain that is not restarted when it could not be started',
      ['src/live/supervise/supervisor.ts', 'over(null, message)', 'void message'],
      seeds,
    ),
    planted(
      'a thread that cannot be started and ends its front',
      [
        'src/front/request/params-reader.ts',
        "worker.on('error', ended)",
        "worker.on('error', (error) => {\n      throw error\n    })",
      ],
      seeds,
    ),
  ],
  'ledger, by seeds': [
    planted(
      'rows that are given up when a write fails',
      ['src/ledger/writer.ts', 'this.#buffer.settle(failure === undefined)', 'this.#buffer.settle(true)'],
      seeds,
    ),
    planted(
      'rows that are dropped and not counted',
      ['src/ledger/row-buffer.ts', 'this.#lost += end - this.#settled', 'this.#lost += 0'],
      seeds,
    ),
  ],
  'rolled fronts, by seeds': [
    planted(
      'a front that gives up its long requests when it is replaced',
      [
        'src/live/fronts/run-front.ts',
        'options.share?.onLeave((limitMs) => front.leave(limitMs))',
        'options.share?.onLeave(() => front.leave(options.leaveMs))',
      ],
      seeds,
    ),
  ],
  'orphaned fronts, by seeds': [
    planted(
      'old fronts that stay beside their successors',
      ['src/live/fronts/seat.ts', "others.filter(({ state }) => state === 'listening') : []", '[] : []'],
      seeds,
    ),
    planted(
      'a roll that alone decides which fronts leave',
      [
        'src/live/fronts/front-processes.ts',
        'this.#settle(index, seat)\n        front.tellKeeper',
        'if (seat.fronts.length === 2) this.#settle(index, seat)\n        front.tellKeeper',
      ],
      seeds,
    ),
  ],
  'large JSON, by seeds': [
    planted(
      'parameters that are limited only by the length of bodies',
      ['src/front/request/workloads.ts', 'mostParamsBytes(workload, limits)', 'maxBytes'],
      seeds,
    ),
    planted(
      'an error that lists all problems',
      ['src/front/request/params.ts', 'issues.slice(0, mostErrors)', 'issues'],
      seeds,
    ),
    planted(
      'long parameters that are checked on the event loop',
      ['src/front/request/params-reader.ts', 'bytes <= shortBytes', 'bytes < Infinity'],
      seeds,
    ),
  ],
  'waiting is not running, by seeds': [
    planted(
      'waiting jobs that keep their core',
      [
        'src/worker/idle-watch.ts',
        'if (this.#samples.has(job) || !job.run?.demandMs) return',
        'if (this.#samples.has(job) || job.run) return',
      ],
      seeds,
    ),
    planted(
      'answers that wait for their client',
      [
        'src/front/transports/workload.ts',
        'if (receiver.mayHold(bytes)) return',
        'if (bytes <= answeringBytes) return',
      ],
      seeds,
    ),
    planted(
      'clients that may read as slowly as they like',
      ['src/front/slow-clients.ts', 'if (read >= least(this.#rate)) return', 'if (read >= 0) return'],
      seeds,
    ),
    planted(
      'jobs without a time limit',
      ['src/worker/supervisor.ts', 'options.limitMs?.(workload) ?? Infinity', 'workload && Infinity'],
      seeds,
    ),
  ],
  'death of the brain': [
    planted(
      'a front that sends everything again when the brain has died',
      [
        'src/live/fronts/pending-requests.ts',
        'if (!(isNew && this.#goesOn(entry))) this.#startOver(entry)',
        'this.#startOver(entry)',
      ],
      [
        'test/long/supervised.test.ts',
        'what runs when the brain dies goes on, and is answered under the next one',
      ],
    ),
    planted(
      'a brain that is not told of the workers that run',
      ['src/live/supervise/supervisor.ts', 'workers: this.#workers.list() },', 'workers: [] },'],
      ['test/long/supervised.test.ts', 'the workers of a killed brain serve the next one'],
    ),
    planted(
      'a brain that ends what an earlier one began',
      [
        'src/brain/recovery.ts',
        'return !recovery.isOver && token.epoch < epoch && !jobs.has(token.job)',
        'return false && !recovery.isOver && token.epoch < epoch && !jobs.has(token.job)',
      ],
      ['src/simulate/take-over.test.ts', 'what runs goes on whenever brains die, and nothing runs twice'],
    ),
  ],
}

/** Old behaviours towards requests, each with the test that must fail when it returns. */

import { type Planted, planted, seeds } from './plant.ts'

export const requestBugs: Readonly<Record<string, readonly Planted[]>> = {
  'waiting is not running': [
    planted(
      'waiting jobs that keep their core',
      [
        'src/worker/idle-watch.ts',
        'if (this.#samples.has(job) || !job.run?.demandMs) return',
        'if (this.#samples.has(job) || job.run) return',
      ],
      ['test/waiting.test.ts', 'six jobs that wait all run at once on two workers of one core'],
    ),
    planted(
      'answers that wait for their client',
      [
        'src/front/answer-buffer.ts',
        'return this.#keepInMemory(chunk) ? undefined : this.#keep(chunk)',
        'return this.#sent.promise.then(() => this.write(chunk))',
      ],
      [
        'src/front/answer-buffer.test.ts',
        'an answer of any size within the budget is taken at once, and arrives unchanged',
      ],
    ),
    planted(
      'clients that may read as slowly as they like',
      ['src/front/slow-clients.ts', 'if (read >= least(this.#rate)) return', 'if (read > 0) return'],
      ['src/front/slow-clients.test.ts', 'a client that reads less than the minimum in a window is cut'],
    ),
    planted(
      'clients that may send as slowly as they like',
      ['src/front/slow-clients.ts', 'sent >= least(rate)) return', 'sent > 0) return'],
      ['src/front/slow-clients.test.ts', 'a client that sends less than the minimum in a window is cut'],
    ),
    planted(
      'jobs without a default time limit',
      ['src/worker/open-pool.ts', '(jobLimitMs || Infinity)', 'Infinity'],
      ['test/long/slow-clients.test.ts', 'a job that never ends is ended at the time limit of the cluster'],
    ),
    planted(
      'a connection to a worker without a time limit',
      ['src/front/transports/send-attempt.ts', '  limitConnecting(call, connectMs)\n', ''],
      [
        'src/front/transports/send-attempt.test.ts',
        'an attempt fails if the worker accepts no connection for ten seconds',
      ],
    ),
  ],
  uploads: [
    planted(
      'bodies without a common budget of memory',
      [
        'src/front/request/body-budget.ts',
        'this.memoryBytes + bytes > this.#options.memoryBytes) return false',
        'bytes < 0) return false',
      ],
      [
        'src/front/request/body-budget.test.ts',
        'what is held is never above the budget, and nothing is left when all are released',
      ],
    ),
    planted(
      'bodies without a common budget of disk',
      [
        'src/front/request/body-budget.ts',
        '    if (this.diskBytes + bytes <= diskBytes) return true\n    const slow',
        '    if (bytes <= diskBytes) return true\n    const slow',
      ],
      [
        'src/front/request/body-budget.test.ts',
        'a body that does not fit is refused, and fits once another is released',
      ],
    ),
    planted(
      'temporary files that keep their name',
      ['src/front/temporary-file.ts', '  await rm(name, { force: true })\n', ''],
      [
        'src/front/answer-buffer.test.ts',
        'an answer of any size within the budget is taken at once, and arrives unchanged',
      ],
    ),
  ],
  ledger: [
    planted(
      'long parameters in the ledger',
      ['src/ledger/bounded-text.ts', 'if (parameters.length <= longest) return', 'if (parameters) return'],
      [
        'src/ledger/ledger.test.ts',
        'memory: long parameters are stored as their hash and length, long keys as their hash',
      ],
    ),
    planted(
      'long parameters on their way to the ledger',
      ['src/front/request/params-reader.ts', 'keep: bytes <= keptBytes', 'keep: true'],
      [
        'src/front/request/params-reader.test.ts',
        'short parameters are checked at once, long ones in a thread',
      ],
    ),
  ],
  'GET and HEAD': [
    planted(
      'a GET that runs work that must not be repeated',
      ['src/front/request/workloads.ts', 'if (!read.safeToRepeat) requirePost(method)', ''],
      [
        'test/front.test.ts',
        'GET and HEAD never run work that must not be repeated; they may ask what it would cost',
      ],
    ),
  ],
  'attempts that hang': [
    planted(
      'an attempt at a worker that the front does not know',
      [
        'src/live/fronts/pending-requests.ts',
        "if (!known) return failed('unreachable', 'it is unknown to this front')",
        'if (!known) return',
      ],
      [
        'src/live/fronts/pending-requests.test.ts',
        'an attempt on a worker that the front does not know fails at once',
      ],
    ),
    planted(
      'an attempt at a worker that the brain does not know',
      ['src/live/perform.ts', "if (!to) return failed('unreachable', 'it is unknown')", 'if (!to) return'],
      ['src/live/perform.test.ts', 'an attempt on an unknown worker or function fails at once'],
    ),
    planted(
      'an attempt that cannot be serialized',
      [
        'src/front/exchange.ts',
        '      this.#couldNotSend(error)\n',
        '      if ((error as NodeJS.ErrnoException).code) this.#couldNotSend(error)\n',
      ],
      [
        'src/front/exchange.test.ts',
        'an attempt that cannot be serialized fails for good, without blame for its worker',
      ],
    ),
    planted(
      'an attempt whose sending rejects',
      ['src/live/perform.ts', '.catch(broke)', '.catch(() => {})'],
      ['src/live/perform.test.ts', 'an attempt whose sending rejects ends with a failure and a log line'],
    ),
    planted(
      'an attempt at a worker that the front does not know, by seeds',
      [
        'src/live/fronts/pending-requests.ts',
        "if (!known) return failed('unreachable', 'it is unknown to this front')",
        'if (!known) return',
      ],
      seeds,
    ),
    planted(
      'an attempt that cannot be serialized, by seeds',
      [
        'src/front/exchange.ts',
        '      this.#couldNotSend(error)\n',
        '      if ((error as NodeJS.ErrnoException)?.code) this.#couldNotSend(error)\n',
      ],
      seeds,
    ),
    planted(
      'an answer that cannot be sent',
      [
        'src/front/exchange.ts',
        '      this.#couldNotAnswer(error)\n',
        '      if (!error) this.#couldNotAnswer(error)\n',
      ],
      [
        'src/front/exchange.test.ts',
        'a result that cannot be sent is a problem for the client and a log line',
      ],
    ),
  ],
  'existing servers': [
    planted(
      'forwarded headers of any client',
      [
        'src/front/transports/proxy-headers.ts',
        'return isTrusted && read === name && !remade.has(name)',
        'return read === name && !remade.has(name)',
      ],
      [
        'src/front/transports/proxy-headers.test.ts',
        'forwarded headers of a client are dropped and replaced',
      ],
    ),
    planted(
      'a chain of addresses that any client begins',
      [
        'src/front/transports/proxy-headers.ts',
        'isTrusted ? valuesOf(rawHeaders, name) : []',
        'valuesOf(rawHeaders, name)',
      ],
      [
        'src/front/transports/proxy-headers.test.ts',
        'forwarded headers of a client are dropped and replaced',
      ],
    ),
    planted(
      'two Host headers and odd encodings',
      ['src/front/request/first-check.ts', '      checkHead(request)\n', ''],
      ['test/own-paths.test.ts', 'two hosts, and encodings other than chunked, never reach the program'],
    ),
    planted(
      'a program that receives another path than routes see',
      ['src/front/request/url.ts', 'return { text: path, path, query', 'return { text: target, path, query'],
      ['test/own-paths.test.ts', 'the program receives the path by which the request was routed'],
    ),
    planted(
      'encoded separators that hide dot segments',
      [
        'src/front/request/path.ts',
        "if (hidesDots(plain)) throw badPath('must not hide . or .. behind an encoded separator or a semicolon')",
        '',
      ],
      [
        'src/front/request/path.test.ts',
        'a path that programs may read differently is a 400 that names the reason',
      ],
    ),
  ],
  'pipelines, closed sides and stragglers': [
    planted(
      'garbage that takes valid requests before it along',
      [
        'src/front/connections.ts',
        'if (before.size > 0 || socket.destroyed) return',
        'if (socket.destroyed) return',
      ],
      ['test/front-pipelines.test.ts', 'requests before garbage are answered, then the garbage is a 400'],
    ),
    planted(
      'clients that closed their side and get no answer',
      ['src/front/connections.ts', '  Object.assign(server, { httpAllowHalfOpen: true })\n', ''],
      [
        'test/front-pipelines.test.ts',
        'a client of HTTP/1.1 that has closed its side after its request gets its answer',
      ],
    ),
    planted(
      'a front that leaves and closes connections whose answers are not read yet',
      ['src/front/connection-steps.ts', 'writableLength > 0', 'writableLength < 0'],
      [
        'src/front/connection-steps.test.ts',
        'idle connections are closed, but not before their clients have read what was written by Node',
      ],
    ),
    planted(
      'processes that leave their group and stay',
      ['src/worker/processes/watchdog.ts', '    this.#stragglers.end(mark)\n', ''],
      [
        'src/worker/slots/stragglers.test.ts',
        'a process that left its group and its parent ends when its job is cancelled',
      ],
    ),
  ],
}

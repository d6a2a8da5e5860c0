/** Options about single jobs and their clients: time limits, slow clients, and what jobs may see. */

import { under } from './option.ts'

export const jobOptions = under('Limits', {
  jobLimit: {
    type: 'number',
    help: 'time limit of one job, in seconds, without pauses; an open stream or WebSocket may be silent for this time; 0: none',
    default: 3_600,
    min: 0,
    value: 'SECONDS',
  },
  stallAfter: {
    type: 'number',
    help:
      'a job that gets or does less than a tenth of what its worker should give it for this time, in seconds, is tried on ' +
      'another worker, and a worker on which nothing else advances is replaced; pauses and waits do not count; 0: never',
    default: 60,
    min: 0,
    value: 'SECONDS',
  },
  minRate: {
    type: 'number',
    help: 'bytes per second that clients must send and read on average; slower ones are disconnected; 0: no minimum',
    default: 240,
    min: 0,
    value: 'BYTES',
  },
  directBelow: {
    type: 'number',
    help:
      'fronts send requests straight to a worker if recent ones of their workload or route all took less than this time, ' +
      'in milliseconds; 0: all requests are placed one by one',
    default: 10,
    min: 0,
    max: 1_000,
    value: 'MS',
  },
  fastPath: {
    type: 'text',
    help: 'on: fronts read plain requests that they send straight to a worker themselves; off: Node.js reads all requests',
    default: 'on',
    choices: ['on', 'off'],
  },
  answerBuffer: {
    type: 'number',
    help: 'disk space of a front for answers that clients read slowly, in MB; 0: none',
    default: 1_024,
    min: 0,
    max: 1_000_000,
    value: 'MB',
  },
  passEnv: {
    type: 'text',
    help:
      'environment variables that workloads and programs may see, separated by commas; NAME* stands for all that ' +
      'begin with NAME. They always see PATH, HOME, USER, SHELL, LANG, LC_*, TZ, TMPDIR and NODE_ENV',
    value: 'NAMES',
  },
})

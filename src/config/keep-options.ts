/** Options of a cluster for requests that are kept: accepted before they are answered. */

import { under } from './option.ts'

export const keepOptions = under('Kept jobs', {
  store: {
    type: 'text',
    help:
      'where accepted jobs and their answers are stored: a folder, or postgres://USER@HOST/DATABASE (requires npm i pg); ' +
      'default: jobs/ in the data folder',
    value: 'WHERE',
  },
  standby: {
    type: 'flag',
    help:
      'at the start, leave kept jobs to the other clusters with the same --store; take over if none of them keeps ' +
      'requests for ten seconds, and whenever one that did ends',
  },
  keepResults: {
    type: 'number',
    help: 'how long results of kept jobs can be read, in hours',
    default: 24,
    min: 0.001,
    max: 100_000,
    value: 'HOURS',
  },
  resultSpace: {
    type: 'number',
    help: 'space for results of kept jobs, in MB; the oldest are removed first',
    default: 1024,
    min: 1,
    max: 1_000_000_000,
    value: 'MB',
  },
  openJobs: {
    type: 'integer',
    help: 'maximum number of kept jobs without an answer; further ones are refused',
    default: 50_000,
    min: 1,
    max: 10_000_000,
    value: 'JOBS',
  },
  openSpace: {
    type: 'number',
    help: 'space for the requests of kept jobs without an answer, in MB; further ones are refused',
    default: 1024,
    min: 1,
    max: 1_000_000_000,
    value: 'MB',
  },
  openShare: {
    type: 'number',
    help: 'part of --open-jobs and --open-space that one client may have, in percent',
    default: 50,
    min: 0.001,
    max: 100,
    value: 'PERCENT',
  },
  endedJobs: {
    type: 'integer',
    help: 'how many kept jobs that have ended are remembered; above it, the jobs that ended first are forgotten',
    default: 1_000_000,
    min: 1,
    max: 1_000_000_000,
    value: 'JOBS',
  },
  endedSpace: {
    type: 'number',
    help: 'space for remembering kept jobs that have ended, without bodies and results, in MB',
    default: 1024,
    min: 1,
    max: 1_000_000_000,
    value: 'MB',
  },
  webhookHosts: {
    type: 'text',
    help:
      'hosts to which webhooks of kept jobs may go, separated by commas: names, *.name for all below it, or * for all ' +
      'that are not on an inner network; default: none',
    value: 'HOSTS',
  },
  asyncAbove: {
    type: 'text',
    help:
      'keep requests whose quote is above this time, and answer them with 202 at once, as if their clients had sent ' +
      '"Prefer: respond-async"; for example 30s; default: only where clients ask for it',
    value: 'TIME',
  },
})

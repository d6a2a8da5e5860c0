/** Options of a cluster for what clients send. */

import { under } from './option.ts'

export const inputOptions = under('Limits', {
  maxParams: {
    type: 'integer',
    help: 'largest parameters of a workload that sets no maxParamsBytes: query and JSON body, in KiB',
    default: 64,
    min: 1,
    max: 16 * 1024,
    value: 'KIB',
  },
  bodyMemory: {
    type: 'integer',
    help: 'memory for the request bodies that a front holds together, in MB; more go to disk',
    default: 128,
    min: 0,
    max: 1_000_000,
    value: 'MB',
  },
  bodyDisk: {
    type: 'integer',
    help: 'temporary files for the request bodies that a front holds together, in MB; more are rejected',
    default: 4096,
    min: 0,
    max: 1_000_000_000,
    value: 'MB',
  },
})

export const proxyOptions = under('Clients', {
  cors: {
    type: 'text',
    help:
      'origins whose pages may send requests to workloads and read the answers (CORS), separated by commas; ' +
      '*: all; default: none',
    value: 'ORIGINS',
  },
  trustedProxies: {
    type: 'text',
    help:
      'addresses or blocks, such as 10.0.0.0/8, of proxies whose Forwarded and X-Forwarded-* headers are believed, ' +
      'separated by commas; default: none',
    value: 'LIST',
  },
  proxyProtocol: {
    type: 'flag',
    help:
      'trusted proxies pass on TCP connections and say whose they are, with the PROXY protocol (version 1 or 2); ' +
      'requires --trusted-proxies',
  },
})

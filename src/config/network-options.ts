/** Where a cluster listens: flags of `plimsoll up` and keys of the configuration file. */

import { under } from './option.ts'

export const networkOptions = under('Network', {
  host: { type: 'text', help: 'address to listen on', default: '127.0.0.1' },
  tlsCert: {
    type: 'text',
    help:
      'certificate of the public port with its chain, in PEM; several, separated by commas, are chosen by the name ' +
      'that the client asks for. Read again when they change. Default: plain HTTP',
    value: 'FILES',
    path: 'list',
  },
  tlsKey: {
    type: 'text',
    help: 'private keys of --tls-cert, in the same order',
    value: 'FILES',
    path: 'list',
  },
  adminPort: {
    type: 'integer',
    help: 'port for operators, and for workers and fronts of this machine; 0 picks a free one',
    default: 8081,
    min: 0,
    max: 65_535,
  },
  adminHost: {
    type: 'text',
    help: 'address of the admin port; on other addresses than loopback every request needs the operator token',
    default: '127.0.0.1',
    value: 'ADDRESS',
  },
  adminNames: {
    type: 'text',
    help: 'further names, separated by commas, by which operators reach the admin port',
    default: '',
    value: 'NAMES',
  },
  adminTlsCert: {
    type: 'text',
    help: 'certificate of the admin port, as --tls-cert; programs of other machines must then use https. Default: plain HTTP',
    value: 'FILES',
    path: 'list',
  },
  adminTlsKey: {
    type: 'text',
    help: 'private keys of --admin-tls-cert, in the same order',
    value: 'FILES',
    path: 'list',
  },
  joinAddress: {
    type: 'text',
    help: 'where workers and fronts of other machines join, over TLS; default: nowhere',
    value: 'HOST:PORT',
  },
  fronts: {
    type: 'integer',
    help: 'number of processes that accept requests on the public port',
    default: 1,
    min: 1,
    max: 64,
  },
  drainHours: {
    type: 'number',
    help: 'time that a front which was replaced may take to finish its requests, in hours',
    default: 12,
    min: 0,
    max: 500,
    value: 'HOURS',
  },
})

/**
 * What each room (folder of `src/`) may import, besides itself. `index` is the room of files directly in `src/`.
 * Rooms stand in the order of their layers: each imports only rooms above it.
 */

export type Room =
  | 'lib'
  | 'model'
  | 'workload'
  | 'meter'
  | 'wire'
  | 'config'
  | 'ledger'
  | 'brain'
  | 'estimate'
  | 'story'
  | 'worker'
  | 'front'
  | 'systems'
  | 'simulate'
  | 'admin'
  | 'live'
  | 'index'
  | 'cli'

export const rooms: Readonly<Record<Room, readonly Room[]>> = {
  lib: [],
  model: ['lib'],
  workload: ['lib', 'model'],
  meter: ['lib'],
  wire: ['lib', 'model'],
  config: ['lib', 'model', 'workload'],
  ledger: ['lib', 'model'],
  brain: ['lib', 'model'],
  estimate: ['lib', 'model', 'workload', 'ledger'],
  story: ['lib', 'model', 'brain'],
  worker: ['lib', 'model', 'workload', 'config', 'wire', 'meter'],
  front: ['lib', 'model', 'workload', 'config', 'wire', 'estimate'],
  systems: ['lib', 'model', 'workload', 'brain', 'estimate', 'ledger'],
  simulate: ['lib', 'model', 'workload', 'brain', 'estimate', 'story', 'systems'],
  admin: ['lib', 'model', 'wire', 'brain', 'story', 'front'],
  live: [
    'lib',
    'model',
    'workload',
    'config',
    'wire',
    'ledger',
    'brain',
    'estimate',
    'story',
    'worker',
    'front',
    'systems',
    'admin',
  ],
  index: ['lib', 'model', 'workload', 'config', 'live'],
  cli: [
    'lib',
    'model',
    'workload',
    'meter',
    'wire',
    'config',
    'ledger',
    'brain',
    'estimate',
    'story',
    'worker',
    'front',
    'systems',
    'simulate',
    'admin',
    'live',
  ],
}

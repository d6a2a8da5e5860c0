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
  | 'aws'
  | 'store'
  | 'keeper'
  | 'brain'
  | 'estimate'
  | 'systems'
  | 'story'
  | 'worker'
  | 'front'
  | 'simulate'
  | 'admin'
  | 'live'
  | 'cli'
  | 'library'
  | 'index'

const base = ['lib', 'model'] as const

export const rooms: Readonly<Record<Room, readonly Room[]>> = {
  lib: [],
  model: ['lib'],
  workload: base,
  meter: base,
  wire: base,
  config: base,
  ledger: base,
  aws: base,
  store: base,
  keeper: [...base, 'store', 'wire'],
  brain: base,
  estimate: [...base, 'workload', 'ledger'],
  systems: [...base, 'wire', 'brain', 'estimate', 'ledger'],
  story: [...base, 'brain', 'estimate', 'systems'],
  worker: [...base, 'workload', 'config', 'wire', 'meter'],
  front: [...base, 'workload', 'config', 'wire', 'estimate', 'story'],
  simulate: [...base, 'brain', 'estimate', 'systems', 'story'],
  admin: [...base, 'wire', 'story', 'front'],
  live: [
    ...base,
    ...(['workload', 'meter', 'wire', 'config', 'ledger', 'brain', 'estimate', 'systems'] as const),
    ...(['story', 'worker', 'front', 'admin', 'store', 'keeper', 'aws'] as const),
  ],
  cli: [
    ...base,
    ...(['workload', 'wire', 'config', 'ledger', 'brain', 'estimate', 'systems', 'story'] as const),
    ...(['worker', 'front', 'simulate', 'admin', 'live', 'aws'] as const),
  ],
  library: [
    ...base,
    ...([
      'workload',
      'config',
      'brain',
      'estimate',
      'systems',
      'story',
      'simulate',
      'worker',
      'live',
      'cli',
    ] as const),
  ],
  index: ['lib', 'config', 'workload', 'library'],
}

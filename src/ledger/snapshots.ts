/** Snapshots save what an estimator has learned across restarts. This file validates them and limits their number. */
import { invalid, isJson } from './checks.ts'

export interface Snapshot {
  workload: string
  /** Of the code that the estimator observed. */
  codeHash: string
  /** Identifies the estimator that saves and reads the snapshot. */
  name: string
  /** Milliseconds since 1970. */
  at: number
  /** At most `maxSnapshot` characters. */
  json: string
}

/** One write to the snapshots table. `parameters` determines its size in the buffer. */
export interface SnapshotEntry {
  parameters: string
  row: Snapshot
}

export const maxSnapshot = 4 * 2 ** 20
/** A ledger keeps snapshots of this many versions of a workload's code, and this many names for each version. */
export const snapshotVersions = 3
export const snapshotNames = 16

export const snapshotFields = ['workload', 'codeHash', 'name', 'at', 'json'] as const

/** A copy with the known fields only, or an error message. */
export function copySnapshot({ row }: SnapshotEntry): SnapshotEntry | string {
  if (typeof row !== 'object' || row === null) return invalid('snapshot', row, 'an object')
  const { workload, codeHash, name, at, json } = row
  for (const [field, value] of Object.entries({ workload, codeHash, name, json })) {
    if (typeof value !== 'string') return `snapshot: ${invalid(field, value, 'text')}`
  }
  if (typeof at !== 'number' || !(at >= 0 && at <= 8.64e15)) return `snapshot: ${invalid('at', at, 'a time')}`
  if (json.length > maxSnapshot) {
    return `snapshot ${name} of ${workload}: ${json.length} characters: must be at most ${maxSnapshot}`
  }
  return { parameters: json, row: { workload, codeHash, name, at, json } }
}

/** Like `copySnapshot`, for a snapshot read from a ledger. */
export function readSnapshot(raw: unknown): Snapshot | string {
  const entry = copySnapshot({ parameters: '', row: raw as Snapshot })
  if (typeof entry === 'string') return entry
  const { name, json } = entry.row
  return isJson(json) ? entry.row : `snapshot ${name}: ${invalid('json', json, 'JSON')}`
}

/** Selects which snapshots of one workload to keep, newest first. */
export function keptSnapshots<T extends Pick<Snapshot, 'codeHash' | 'at'>>(all: T[], latest: number): T[] {
  // A snapshot from the future would stay the newest forever.
  const age = ({ at }: T) => (at <= latest ? at : 0)
  const names = new Map<string, number>()
  return all
    .toSorted((a, b) => age(b) - age(a))
    .filter(({ codeHash }) => {
      const count = names.get(codeHash) ?? 0
      if (count === 0 && names.size === snapshotVersions) return false
      names.set(codeHash, count + 1)
      return count < snapshotNames
    })
}

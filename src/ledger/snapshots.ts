/** Snapshots: what an estimator has learned, so that a restart need not learn it again. What a ledger keeps of them. */
import { isJson, wrong } from './row.ts'

export interface Snapshot {
  workload: string
  /** Of the code that it was learned from. */
  codeHash: string
  /** Names whoever saved it, and will read it. */
  name: string
  /** Milliseconds since 1970. */
  at: number
  /** At most `maxSnapshot` characters. */
  json: string
}

/** What is told to a ledger. `parameters` is the text by which its size is known. */
export interface SnapshotEntry {
  parameters: string
  row: Snapshot
}

export const maxSnapshot = 4 * 2 ** 20
/** Of this many versions of a workload's code, and this many names of each. */
export const snapshotVersions = 3
export const snapshotNames = 16

export const snapshotFields = ['workload', 'codeHash', 'name', 'at', 'json'] as const

/** A copy with its own fields only, or words for what is wrong with it. */
export function copySnapshot({ row }: SnapshotEntry): SnapshotEntry | string {
  if (typeof row !== 'object' || row === null) return wrong('snapshot', row, 'an object')
  const { workload, codeHash, name, at, json } = row
  for (const [field, value] of Object.entries({ workload, codeHash, name, json })) {
    if (typeof value !== 'string') return `snapshot: ${wrong(field, value, 'text')}`
  }
  if (typeof at !== 'number' || !(at >= 0 && at <= 8.64e15)) return `snapshot: ${wrong('at', at, 'a time')}`
  if (json.length > maxSnapshot) {
    return `snapshot ${name} of ${workload}: ${json.length} characters: must be at most ${maxSnapshot}`
  }
  return { parameters: json, row: { workload, codeHash, name, at, json } }
}

/** Likewise for what comes out of a ledger. */
export function readSnapshot(raw: unknown): Snapshot | string {
  const entry = copySnapshot({ parameters: '', row: raw as Snapshot })
  if (typeof entry === 'string') return entry
  const { name, json } = entry.row
  return isJson(json) ? entry.row : `snapshot ${name}: ${wrong('json', json, 'JSON')}`
}

/** Those of one workload that are kept, newest first. */
export function keptSnapshots<T extends Pick<Snapshot, 'codeHash' | 'at'>>(all: T[], latest: number): T[] {
  // One from the future would be the newest for ever.
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

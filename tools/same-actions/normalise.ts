/** Translates log lines and brain descriptions between the names of the old and the new checkout. */

import type { Renames } from './renames.ts'

interface Entry {
  at: number
  event: Typed
  actions: Typed[]
}
type Typed = { type: string; reason?: { code: string } }

export function isEmpty(renames: Readonly<Renames>): boolean {
  return Object.values(renames).every((table) => Object.keys(table).length === 0)
}

/** A line of the old checkout's log in the names of the new one. Re-serialised even where no name changes. */
export function normalise(line: string, renames: Readonly<Renames>): string {
  const parsed = JSON.parse(line) as Entry | { brain: unknown }
  if ('brain' in parsed)
    return JSON.stringify({ ...parsed, brain: renameFields(parsed.brain, renames.settings) })
  const { event, actions } = parsed
  event.type = renamed(renames.events, event.type)
  for (const action of actions) {
    action.type = renamed(renames.actions, action.type)
    if (action.reason) action.reason.code = renamed(renames.codes, action.reason.code)
  }
  return JSON.stringify(renameFields(parsed, renames.fields))
}

/** A copy with other field names, at any depth and in the same order. */
export function renameFields<T>(value: T, table: Readonly<Record<string, string>>): T {
  if (Object.keys(table).length === 0 || typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((item) => renameFields(item, table)) as T
  const fields = Object.entries(value).map(([name, item]) => [
    renamed(table, name),
    renameFields(item, table),
  ])
  return Object.fromEntries(fields) as T
}

export function inverse(table: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(table).map(([from, to]) => [to, from]))
}

function renamed(table: Readonly<Record<string, string>>, name: string): string {
  return Object.hasOwn(table, name) ? table[name]! : name
}

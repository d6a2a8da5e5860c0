/**
 * Names in the event log that differ between the two checkouts, each as `old: 'new'`. They are applied to the old
 * checkout's log before the comparison. Example: after the event `would-end` became `end-requested`, `events` holds
 * `'would-end': 'end-requested'`. Empty the tables once the old checkout is one that has the new names.
 */

export interface Renames {
  /** Event types. */
  events: Record<string, string>
  /** Action types. */
  actions: Record<string, string>
  /** Reason codes. */
  codes: Record<string, string>
  /** Field names anywhere in events, actions and reasons. */
  fields: Record<string, string>
  /**
   * Field names anywhere in the description of a brain (`BrainSpec`). The runs in plan.ts use the new names; the old
   * checkout receives them translated back.
   */
  settings: Record<string, string>
}

export const renames: Readonly<Renames> = {
  events: { 'would-end': 'leave-requested' },
  actions: { role: 'assign', stay: 'deny' },
  codes: {},
  fields: { ending: 'settings' },
  settings: {},
}

export const noRenames: Readonly<Renames> = { events: {}, actions: {}, codes: {}, fields: {}, settings: {} }

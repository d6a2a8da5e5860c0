/** Timers, by what they are for. */

/** A timer's `id` names the job, worker or launch that it concerns. */
export interface Timer {
  kind: TimerKind
  id: string
}

export type TimerKind =
  | JobTimerKind
  | 'turns'
  | 'retries'
  | 'share'
  | 'silence'
  | 'ping'
  | 'heartbeat'
  | 'ejection'
  | 'launch'
  | 'scale'
  | 'cpu'
  | 'overflow'
  | 'recovery'
export type JobTimerKind = (typeof jobTimerKinds)[number]

/** Timers of jobs and their attempts. They are cleared when the job is over. */
const jobTimerKinds = [
  'deadline',
  'slack',
  'turn',
  'queue',
  'patience',
  'function',
  'answer',
  'retry',
] as const
const ofJobs: ReadonlySet<string> = new Set(jobTimerKinds)

export function isJobTimer(kind: TimerKind): boolean {
  return ofJobs.has(kind)
}

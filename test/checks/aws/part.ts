/** A part of `npm run check:aws`, and what it counts. */

export interface Figures {
  requests: number
  /** Requests that were not answered. */
  lost: number
  /** Requests that were answered with something else than their result. */
  wrong: number
  launched: number
  terminated: number
  /** Instances that run after the cluster has ended. */
  left: number
  lambda_invocations: number
  lambda_throttled: number
  /** Launches of which two instances came. */
  double_launches: number
}

export interface Part {
  name: string
  /** Rejects if something did not happen that should have. */
  run(say: (line: string) => void): Promise<Partial<Figures>>
}

const bad = ['lost', 'wrong', 'left', 'double_launches'] as const

export function noFigures(): Figures {
  return {
    ...{ requests: 0, lost: 0, wrong: 0, launched: 0, terminated: 0, left: 0 },
    ...{ lambda_invocations: 0, lambda_throttled: 0, double_launches: 0 },
  }
}

export function addFigures(total: Figures, part: Partial<Figures>): void {
  for (const [name, value] of Object.entries(part)) total[name as keyof Figures] += value
}

/** Undefined: none. */
export function problemOf(figures: Partial<Figures>): string | undefined {
  const problems = bad.filter((name) => (figures[name] ?? 0) > 0).map((name) => `${name} ${figures[name]}`)
  return problems.length > 0 ? problems.join(', ') : undefined
}

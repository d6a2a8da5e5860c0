/** Which type in which subnet a launch asks for: the preferred one, or the next if AWS has no capacity for it. */

export interface Choice {
  /** Undefined: that of the launch template. */
  type: string | undefined
  /** Undefined: the default one. */
  subnet: string | undefined
}

export interface Choices {
  /** All choices, in the order in which a launch tries them. */
  inOrder(now: number): readonly Choice[]
  /** AWS had no capacity for this choice. */
  failed(choice: Choice, now: number): void
}

/** For this time, launches try a choice without capacity last. */
const avoidedMs = 5 * 60_000

/** A type is tried in all subnets before the next type is. */
export function choicesOf(types: readonly string[], subnets: readonly string[]): Choices {
  const all: readonly Choice[] = orNone(types).flatMap((type) =>
    orNone(subnets).map((subnet) => ({ type, subnet })),
  )
  const failedAt = new Map<Choice, number>()
  const isAvoided = (choice: Choice, now: number) => now - (failedAt.get(choice) ?? -Infinity) < avoidedMs
  return {
    inOrder: (now) => [
      ...all.filter((choice) => !isAvoided(choice, now)),
      ...all.filter((choice) => isAvoided(choice, now)),
    ],
    failed: (choice, now) => void failedAt.set(choice, now),
  }
}

export function textOf({ type, subnet }: Choice): string {
  return [type, subnet && `in ${subnet}`].filter(Boolean).join(' ')
}

function orNone(names: readonly string[]): readonly (string | undefined)[] {
  return names.length > 0 ? names : [undefined]
}

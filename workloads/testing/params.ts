/** Parses parameters as the front does, for tests of schemas and their messages. */

import type { Workload } from 'plimsoll/workload'

interface Issue {
  message: string
  path?: readonly PropertyKey[]
}

export function readParams<Params>(workload: Workload<Params>, input: unknown): Params {
  const outcome = validate(workload, input)
  if (outcome.issues) throw new Error(described(outcome.issues))
  return outcome.value
}

/** One line per problem, as `name: message`; empty if there is none. */
export function problems<Params>(workload: Workload<Params>, input: unknown): string {
  return described(validate(workload, input).issues ?? [])
}

function validate<Params>(workload: Workload<Params>, input: unknown) {
  const outcome = workload.params!['~standard'].validate(input)
  return outcome as { value: Params; issues?: undefined } | { issues: readonly Issue[] }
}

function described(issues: readonly Issue[]): string {
  return issues.map(({ path = [], message }) => [...path.map(String), message].join(': ')).join('\n')
}

/** Takes out the problems that an exception allows, and adds the exceptions that are wrong themselves. */

import type { Exception } from './exceptions.ts'
import type { Problem } from './problem.ts'

export function applyExceptions(problems: readonly Problem[], exceptions: readonly Exception[]): Problem[] {
  return [
    ...problems.filter((problem) => !exceptions.some((exception) => allows(exception, problem))),
    ...exceptions
      .filter((exception) => !problems.some((problem) => allows(exception, problem)))
      .map((exception) => wrong(exception, 'is not needed any more')),
    ...exceptions
      .filter(({ reason }) => reason.trim() === '')
      .map((exception) => wrong(exception, 'has no reason')),
  ]
}

const nameOf = (exception: Exception) => ('name' in exception ? exception.name : undefined)

function allows(exception: Exception, { file, allowedBy }: Problem): boolean {
  return exception.file === file && exception.rule === allowedBy?.rule && nameOf(exception) === allowedBy.name
}

function wrong(exception: Exception, what: string): Problem {
  const name = nameOf(exception)
  const subject = `exception ${exception.rule} of ${exception.file}${name === undefined ? '' : ` (${name})`}`
  return { file: 'tools/tidy/exceptions.ts', line: 1, message: `${subject} ${what}` }
}

/** Files, functions and phrases that may break a rule, each with its reason. An exception without use is an error. */

export type Exception = { file: string; reason: string } & (
  | { rule: 'file-size' }
  /** `name`: the function's name, or the title of a test. */
  | { rule: 'function-size'; name: string }
  /** `name`: the phrase as it stands in the file, in lower case. */
  | { rule: 'phrase'; name: string }
)

export const exceptions: readonly Exception[] = []

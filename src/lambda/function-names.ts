/** Which Lambda function runs which workload. */

import { ConfigError } from '../lib/errors.ts'

/** The name of the function that runs this workload. Undefined: none does. */
export type FunctionNamer = (workload: string) => string | undefined

/** A name, or an ARN with an optional version or alias. */
const pattern = /^(arn:[\w-]+:lambda:[\w-]+:\d{12}:function:)?[\w-]{1,64}(:[\w$-]{1,128})?$/

/** Reads `NAME`, one function for all workloads, or `WORKLOAD=NAME,WORKLOAD=NAME`. */
export function functionNames(text: string): { nameOf: FunctionNamer; names: string[] } {
  const wrong = (term: string, must: string) =>
    new ConfigError(`--lambda-functions = ${text}: ${term}: must be ${must}`)
  const checked = (name: string) => {
    if (!pattern.test(name)) throw wrong(name, 'the name or ARN of a Lambda function')
    return name
  }
  if (!text.includes('=')) {
    const name = checked(text.trim())
    return { nameOf: () => name, names: [name] }
  }
  const named = new Map<string, string>()
  for (const term of text.split(',')) {
    const [workload = '', name = '', ...more] = term.split('=').map((part) => part.trim())
    if (workload === '' || more.length > 0) throw wrong(term, 'WORKLOAD=NAME')
    named.set(workload, checked(name))
  }
  return { nameOf: (workload) => named.get(workload), names: [...new Set(named.values())] }
}

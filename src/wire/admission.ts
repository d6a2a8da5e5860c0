/** Who may join: a worker of the same protocol and the same code. */

import { type FromWorker, wireVersion } from './messages.ts'

/** Why a worker may not join, if it may not. */
export function whyNot(
  { version, code: theirs }: Extract<FromWorker, { type: 'hello' }>,
  ours: Readonly<Record<string, string>>,
): string | undefined {
  if (version !== wireVersion)
    return `it speaks version ${version} of the protocol; this is version ${wireVersion}`
  for (const [name, hash] of Object.entries(ours)) {
    if (theirs[name] === hash) continue
    const has = theirs[name] === undefined ? 'does not have it' : `has ${theirs[name].slice(0, 12)}`
    return `its code of workload ${name} is another: the cluster has ${hash.slice(0, 12)}, the worker ${has}; deploy the same version to both, with the same --meter`
  }
  return undefined
}

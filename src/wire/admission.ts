/** A worker or a front may join if it speaks the same protocol and runs the same code. */

import { wireVersion } from './messages.ts'

/** Why it may not join; undefined: it may. */
export function incompatibility(
  { version, code: theirs }: { version: number; code: Readonly<Record<string, string>> },
  ours: Readonly<Record<string, string>>,
  who: 'worker' | 'front' = 'worker',
): string | undefined {
  if (version !== wireVersion)
    return `it speaks version ${version} of the protocol; this is version ${wireVersion}`
  for (const [name, hash] of Object.entries(ours)) {
    if (theirs[name] === hash) continue
    const has = theirs[name] === undefined ? 'does not have it' : `has ${theirs[name].slice(0, 12)}`
    return `its code of workload ${name} differs: the cluster has ${hash.slice(0, 12)}, the ${who} ${has}; start the ${who} with the same files and the same --meter, or bring new files to the cluster first: plimsoll restart`
  }
  const more = Object.keys(theirs).filter((name) => ours[name] === undefined)
  // Further workloads of a worker are never used; a front would accept requests that nobody can serve.
  if (who === 'front' && more.length > 0)
    return `the cluster lacks its workload ${more.join(', ')}; deploy the same version to both`
  return undefined
}

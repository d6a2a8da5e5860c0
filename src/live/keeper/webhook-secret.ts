/** The secret that signs webhooks: of the store, if several clusters share it, otherwise of the data folder. */

import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { newSecret } from '../../keeper/webhooks/signature.ts'
import { privateFile } from '../../lib/private-files.ts'
import type { JobStore } from '../../store/store.ts'

/** The file always has the secret that is used: operators give it to receivers. */
export async function webhookSecret(
  store: Pick<JobStore, 'sharedSecret'>,
  file: string,
  log: (line: string) => void,
): Promise<string> {
  const isThere = existsSync(file)
  const own = isThere ? readFileSync(file, 'utf8').trim() : newSecret()
  const secret = (await store.sharedSecret(own)) ?? own
  if (isThere && secret === own) return secret
  if (isThere)
    log(`keeper: webhooks are signed with the secret of the store, which replaces the one in ${file}`)
  writeFileSync(file, `${secret}\n`, { mode: privateFile })
  return secret
}

/** How commands of operators reach the admin port, and find the token that it may ask for. */

import { resolve } from 'node:path'
import { commonOptions } from '../../config/cluster-options.ts'
import type { OptionSpecs } from '../../config/option.ts'
import { ConfigError } from '../../lib/errors.ts'
import { readToken, tokenFile, tokensInEnvironment, tokenVariables } from '../../live/tokens.ts'
import { configuredData, readAddresses } from '../cluster/addresses-file.ts'
import { adminUrl, readUrl, type TokenSource } from './client.ts'

export const adminOptions = {
  admin: {
    type: 'text',
    help: `the cluster's admin address; default: that of the cluster that uses the data folder, or ${adminUrl}`,
    value: 'URL',
  },
  tokenFile: {
    type: 'text',
    help: `file with the operator token, - is standard input; default: the environment variable ${tokenVariables.operator}, or tokens/operator in the data folder`,
    value: 'FILE',
  },
  data: {
    type: 'text',
    help: `data folder of the cluster; default: the configuration's, or ${commonOptions.data.default}`,
    value: 'DIR',
  },
} as const satisfies OptionSpecs

/** The admin port of a cluster, as an operator sees it. */
export interface Admin {
  url: URL
  /** Called when the cluster asks for it. Rejects with a `ConfigError` that says what to do. */
  token: TokenSource
}

export interface AdminValues {
  admin: string | undefined
  tokenFile: string | undefined
  data: string | undefined
}

export async function adminFrom(values: AdminValues): Promise<Admin> {
  const url = readUrl('admin', values.admin ?? (await readAddresses(values.data))?.admin ?? adminUrl)
  let token: Promise<string> | undefined
  return {
    url,
    token() {
      token ??= findToken(values)
      return token
    },
  }
}

async function findToken({ tokenFile: file, data }: AdminValues): Promise<string> {
  if (file !== undefined) return readToken(file, `--token-file = ${file}`)
  const { operator } = tokensInEnvironment()
  if (operator !== undefined) return operator
  const kept = tokenFile(resolve(data ?? (await configuredData())), 'operator')
  try {
    return readToken(kept)
  } catch (error) {
    throw new ConfigError(
      `the operator token is required, but ${(error as Error).message}\nName the data folder of the cluster (--data DIR) or a file with the token (--token-file FILE), or set ${tokenVariables.operator}.`,
    )
  }
}

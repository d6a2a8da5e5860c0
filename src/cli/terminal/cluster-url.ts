/** How commands of clients find the public port of a cluster. */

import type { OptionSpecs, OptionValues } from '../../config/option.ts'
import { readAddresses } from '../cluster/addresses-file.ts'
import { adminOptions } from './admin.ts'
import { publicUrl, readUrl } from './client.ts'

export const clusterUrlOptions = {
  url: {
    type: 'text',
    help: `the cluster's public address; default: that of the cluster that uses the data folder, or ${publicUrl}`,
    value: 'URL',
  },
  data: adminOptions.data,
} as const satisfies OptionSpecs

export async function clusterUrlFrom({ url, data }: OptionValues<typeof clusterUrlOptions>): Promise<URL> {
  return readUrl('url', url ?? (await readAddresses(data))?.url ?? publicUrl)
}

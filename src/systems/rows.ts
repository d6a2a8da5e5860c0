/** The tables of the published systems, as views of the ledger. */

import type { Ledger } from '../ledger/ledger.ts'
import { cloudprimeRows } from './cloudprime/rows.ts'
import { cnvRows } from './cnv/rows.ts'
import { ecoworkRows } from './ecowork/rows.ts'
import { hillclimbingRows } from './hillclimbing/rows.ts'

/** The newest rows of a workload, at most `limit`, with the system's own columns. */
export type RowView = (ledger: Ledger, workload: string, limit: number) => Promise<readonly object[]>

/** By preset. The others have no table of their own. */
export const rowViews: Readonly<Record<string, RowView>> = {
  cloudprime: cloudprimeRows,
  cnv: cnvRows,
  hillclimbing: hillclimbingRows,
  ecowork: ecoworkRows,
}

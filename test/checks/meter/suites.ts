/** All third-party packages that are run metered and unmetered. */
import { compilers } from './compilers.ts'
import { computations } from './computations.ts'
import { documents } from './documents.ts'
import type { Suite } from './suite.ts'

export const suites: readonly Suite[] = [...compilers, ...documents, ...computations]

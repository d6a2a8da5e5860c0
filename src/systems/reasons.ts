/** The words for the reasons of all systems, and for all estimates. */

import { estimateWords } from '../estimate/reasons.ts'
import { inWords, type Words } from '../model/explain.ts'
import type { Reason } from '../model/reason.ts'
import { cloudprimeEstimates, cloudprimeWords } from './cloudprime/reasons.ts'
import { cnvEstimates, cnvWords } from './cnv/reasons.ts'
import { ecoworkEstimates, ecoworkWords } from './ecowork/reasons.ts'
import { hillclimbingEstimates, hillclimbingWords } from './hillclimbing/reasons.ts'
import { tieredWords } from './tiered/reasons.ts'

/** Reasons of the systems' own decisions. */
export const systemWords: Words = {
  ...cloudprimeWords,
  ...cnvWords,
  ...ecoworkWords,
  ...hillclimbingWords,
  ...tieredWords,
}

const allEstimates: Words = {
  ...estimateWords,
  ...cloudprimeEstimates,
  ...cnvEstimates,
  ...ecoworkEstimates,
  ...hillclimbingEstimates,
}

/** Where an estimate comes from, as part of a sentence. */
export function explainEstimate(reason: Reason): string {
  return inWords(allEstimates, reason)
}

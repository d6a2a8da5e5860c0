/**
 * Bounds the texts of a row. Clients choose parameters, so without a bound a few thousand rows could fill a disk.
 * Estimators need the key and the features of a request, which are short; long parameters are only for readers.
 */

import { hash } from 'node:crypto'

/** Longer parameters are stored as their hash and length. */
export const longestParameters = 2_048
/** Longer features are not stored: the row then counts as one whose features are unknown. */
export const longestFeatures = 4_096
/** Longer keys are stored as their hash. So are the parameters that identify a row of metrics. */
export const longestKey = 1_024
/** A row with a longer name, id or list of quantities is malformed. */
export const longestName = 1_024

/** JSON text in place of long parameters: equal only for equal parameters. */
export function boundedParameters(parameters: string, longest = longestParameters): string {
  if (parameters.length <= longest) return parameters
  return JSON.stringify({ sha256: digest(parameters), characters: parameters.length })
}

export function boundedFeatures(features: string): string {
  return features.length <= longestFeatures ? features : ''
}

export function boundedKey(key: string): string {
  return key.length <= longestKey ? key : `#${digest(key)}`
}

function digest(text: string): string {
  return hash('sha256', text, 'base64url')
}

/** What a client allows its request to cost: CPU time, or a price in the currency of the cluster. */

/** `text`: as the client wrote it. */
export type MaxCost = { text: string } & ({ ms: number } | { price: number })

export const maxCostRule =
  'must be CPU time such as 90s or 500ms, or a price such as price=0.02, and more than 0'

const form = /^(?:(\d+(?:\.\d+)?)(ms|s)|price=(\d+(?:\.\d+)?(?:e-?\d+)?))$/

/** Undefined: it is neither. */
export function readMaxCost(given: string): MaxCost | undefined {
  const text = given.trim()
  const [, digits, unit, price] = form.exec(text) ?? []
  const value = Number(digits ?? price)
  if (!(value > 0 && value < Infinity)) return undefined
  return unit === undefined ? { text, price: value } : { text, ms: unit === 's' ? value * 1000 : value }
}

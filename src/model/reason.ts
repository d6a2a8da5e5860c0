/** A code with the numbers of a decision; `explain` turns it into text. */
export interface Reason {
  code: string
  [fact: string]: string | number
}

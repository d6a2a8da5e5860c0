/** A code with the numbers that decided; `explain` puts it into words when someone asks. */
export interface Reason {
  code: string
  [fact: string]: string | number
}

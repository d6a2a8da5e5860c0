/** A piece of a module's source, from `start` to `end`, that is replaced by `text`. */
export interface Planted {
  url: string
  start: number
  end: number
  text: string
}

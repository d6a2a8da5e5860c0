/** A program that does nearly all of its work in a package. */
import { parse } from 'acorn'

export default function main(): number {
  return parse('a = b + c * d; function e(f) { return g(f) }', { ecmaVersion: 2024 }).end
}

/**
 * Work inside built-in functions, which no region of JavaScript shows: what is charged for a call, by the size of
 * what goes in or comes out. Approximate: the size is known, what the built-in did with it is not.
 */
import type { AnyNode } from 'acorn'

export interface NativeCharge {
  /** Whose size counts: what the method is called on, the first argument, or what comes back. */
  by: 'receiver' | 'argument' | 'result'
  /** Units for each byte of a typed array, element of an array or character of a string. */
  units: number
}

const receiver = (units: number): NativeCharge => ({ by: 'receiver', units })
const argument = (units: number): NativeCharge => ({ by: 'argument', units })
const result = (units: number): NativeCharge => ({ by: 'result', units })

const methods = new Map([
  ['fill', receiver(0.1)],
  ['copyWithin', receiver(0.1)],
  ['reverse', receiver(0.5)],
  ['set', argument(0.15)],
  ['slice', result(0.15)],
  ['concat', result(0.5)],
  ['join', result(2)],
  ['split', result(20)],
  ['repeat', result(0.1)],
  ['indexOf', receiver(0.1)],
  ['lastIndexOf', receiver(0.1)],
  ['includes', receiver(0.1)],
  ['sort', receiver(60)],
  ['toSorted', receiver(60)],
  ['replace', receiver(1)],
  ['replaceAll', receiver(1)],
  ['match', receiver(1)],
  ['matchAll', receiver(1)],
  ['normalize', receiver(3)],
  ['toLowerCase', receiver(0.5)],
  ['toUpperCase', receiver(0.5)],
  ['toString', result(0.5)],
  ['encode', result(0.3)],
  ['decode', argument(0.3)],
  ['update', argument(3)],
  ['deflateSync', argument(60)],
  ['deflateRawSync', argument(60)],
  ['gzipSync', argument(60)],
  ['brotliCompressSync', argument(600)],
  ['inflateSync', result(8)],
  ['inflateRawSync', result(8)],
  ['gunzipSync', result(8)],
  ['unzipSync', result(8)],
  ['brotliDecompressSync', result(8)],
])

const statics = new Map([
  ['JSON.stringify', result(4)],
  ['JSON.parse', argument(6)],
  ['Array.from', result(6)],
  ['Object.keys', result(6)],
  ['Object.values', result(6)],
  ['Object.entries', result(20)],
  ['String.fromCharCode', result(2)],
  ['String.fromCodePoint', result(4)],
  ['Buffer.from', result(0.3)],
  ['Buffer.concat', result(0.3)],
])

/** New memory is cleared, and the system hands it out page by page. */
const cleared = result(0.3)
const sized = /^((Uint|Int|Float|BigInt|BigUint)\d+(Clamped)?Array|ArrayBuffer|SharedArrayBuffer|Array)$/

export function nativeCharge(node: AnyNode): NativeCharge | undefined {
  if (node.type === 'NewExpression') {
    return node.callee.type === 'Identifier' && sized.test(node.callee.name) ? cleared : undefined
  }
  if (node.type !== 'CallExpression' || node.optional) return undefined
  const { callee } = node
  if (callee.type !== 'MemberExpression' || callee.computed || callee.optional) return undefined
  if (callee.object.type === 'Super' || callee.property.type !== 'Identifier') return undefined
  const { name } = callee.property
  const owner = callee.object.type === 'Identifier' ? callee.object.name : ''
  const charge = statics.get(`${owner}.${name}`) ?? methods.get(name)
  if (!charge) return undefined
  const [first] = node.arguments
  return charge.by === 'argument' && (!first || first.type === 'SpreadElement') ? undefined : charge
}

/**
 * The work of built-in functions, which contain no countable regions. A call is charged by the size of its input or
 * output; this is approximate, because the meter does not know how much of it the function processes.
 */
import type { AnyNode } from 'acorn'

export interface NativeCharge {
  /** Which value's size counts. */
  by: 'receiver' | 'argument' | 'result'
  /** Units for each byte of a typed array, element of an array or character of a string. */
  units: number
}

const receiver = (units: number): NativeCharge => ({ by: 'receiver', units })
const argument = (units: number): NativeCharge => ({ by: 'argument', units })
const result = (units: number): NativeCharge => ({ by: 'result', units })

const methods = new Map([
  ['fill', receiver(0.3)],
  ['copyWithin', receiver(0.3)],
  ['reverse', receiver(1.25)],
  ['set', argument(0.4)],
  ['slice', result(0.4)],
  ['concat', result(1.25)],
  ['join', result(5)],
  ['split', result(50)],
  ['repeat', result(0.3)],
  ['indexOf', receiver(0.3)],
  ['lastIndexOf', receiver(0.3)],
  ['includes', receiver(0.3)],
  ['sort', receiver(150)],
  ['toSorted', receiver(150)],
  ['replace', receiver(2.5)],
  ['replaceAll', receiver(2.5)],
  ['match', receiver(2.5)],
  ['matchAll', receiver(2.5)],
  ['normalize', receiver(7.5)],
  ['toLowerCase', receiver(1.25)],
  ['toUpperCase', receiver(1.25)],
  ['toString', result(1.25)],
  ['encode', result(0.7)],
  ['decode', argument(0.7)],
  ['update', argument(7.5)],
  ['deflateSync', argument(150)],
  ['deflateRawSync', argument(150)],
  ['gzipSync', argument(150)],
  ['brotliCompressSync', argument(1500)],
  ['inflateSync', result(20)],
  ['inflateRawSync', result(20)],
  ['gunzipSync', result(20)],
  ['unzipSync', result(20)],
  ['brotliDecompressSync', result(20)],
])

/** With more arguments than this, a function processes a part of unknown size, and is not charged. */
const maxArguments = new Map([
  ['fill', 1],
  ['copyWithin', 0],
  ['indexOf', 1],
  ['lastIndexOf', 1],
  ['includes', 1],
])

const statics = new Map([
  ['JSON.stringify', result(10)],
  ['JSON.parse', argument(15)],
  ['Array.from', result(15)],
  ['Object.keys', result(15)],
  ['Object.values', result(15)],
  ['Object.entries', result(50)],
  ['String.fromCharCode', result(5)],
  ['String.fromCodePoint', result(10)],
  ['Buffer.from', result(0.7)],
  ['Buffer.concat', result(0.7)],
])

/** New memory is zeroed, and the operating system allocates it page by page. */
const cleared = result(0.7)
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
  if (!charge || node.arguments.length > (maxArguments.get(name) ?? Number.POSITIVE_INFINITY))
    return undefined
  const [first] = node.arguments
  return charge.by === 'argument' && (!first || first.type === 'SpreadElement') ? undefined : charge
}

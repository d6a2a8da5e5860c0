/** Rows as items of DynamoDB. A missing attribute is null. */
import type { AttributeValue } from '@aws-sdk/client-dynamodb'

export type Item = Record<string, AttributeValue>
export type Value = string | number | boolean | Uint8Array | null | undefined

export function toItem(row: Readonly<Record<string, Value>>): Item {
  const item: Item = {}
  for (const [name, value] of Object.entries(row)) {
    if (value !== null && value !== undefined) item[name] = toAttribute(value)
  }
  return item
}

export function toAttribute(value: string | number | boolean | Uint8Array): AttributeValue {
  if (typeof value === 'string') return { S: value }
  if (typeof value === 'boolean') return { BOOL: value }
  return typeof value === 'number' ? { N: String(value) } : { B: value }
}

export function textOf(item: Item, name: string): string | undefined {
  return item[name]?.S
}

export function numberOf(item: Item, name: string): number | undefined {
  const text = item[name]?.N
  return text === undefined ? undefined : Number(text)
}

export function bytesOf(item: Item, name: string): Uint8Array | undefined {
  return item[name]?.B
}

/** Null for each of the names that is missing. */
export function fromItem<Name extends string>(
  item: Item,
  names: readonly Name[],
): Record<Name, string | number | null> {
  return Object.fromEntries(
    names.map((name) => [name, textOf(item, name) ?? numberOf(item, name) ?? null]),
  ) as Record<Name, string | number | null>
}

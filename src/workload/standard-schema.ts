/**
 * Checks values with any schema library: the part of Standard Schema v1 (standardschema.dev) that we use. zod,
 * valibot and arktype schemas have this shape.
 */

export interface StandardSchema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>
    readonly types?: { readonly input: Input; readonly output: Output } | undefined
  }
}

type SchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] }

interface SchemaIssue {
  readonly message: string
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

export function isSchema(value: unknown): value is StandardSchema {
  // Some libraries' schemas are functions.
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false
  const standard = (value as Partial<StandardSchema>)['~standard']
  return standard?.version === 1 && typeof standard.validate === 'function'
}

/** What the schema makes of a value, or what is wrong with it: one sentence an issue, each naming its place. */
export async function check<Output>(
  schema: StandardSchema<unknown, Output>,
  value: unknown,
): Promise<{ value: Output } | { issues: string[] }> {
  const result = await schema['~standard'].validate(value)
  return result.issues ? { issues: result.issues.map(sentence) } : { value: result.value }
}

function sentence({ path, message }: SchemaIssue): string {
  const keys = keysOf(path)
  return keys.length > 0 ? `${keys.join('.')}: ${message}` : message
}

/** Where in a value an issue lies. */
export function keysOf(path: SchemaIssue['path']): string[] {
  return (path ?? []).map((step) => String(typeof step === 'object' ? step.key : step))
}

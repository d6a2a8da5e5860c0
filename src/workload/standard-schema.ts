/**
 * Validates values with any schema library that implements Standard Schema v1 (standardschema.dev), such as zod,
 * valibot and arktype.
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
  // In some libraries, schemas are functions.
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false
  const standard = (value as Partial<StandardSchema>)['~standard']
  return standard?.version === 1 && typeof standard.validate === 'function'
}

/** The parsed value, or one sentence per issue that names its path. */
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

/** The path of an issue. */
export function keysOf(path: SchemaIssue['path']): string[] {
  return (path ?? []).map((step) => String(typeof step === 'object' ? step.key : step))
}

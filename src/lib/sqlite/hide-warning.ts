/** Hides one warning: Node 24 before 24.15 warns that SQLite is an experimental feature. */

type Emit = typeof process.emitWarning

export function withoutSqliteWarning(emit: Emit): Emit {
  return ((warning: string | Error, ...rest: never[]) => {
    const [second] = rest as unknown[]
    const type = typeof second === 'string' ? second : (second as { type?: string } | undefined)?.type
    if (type === 'ExperimentalWarning' && String(warning).startsWith('SQLite ')) return
    return emit.call(process, warning, ...rest)
  }) as Emit
}

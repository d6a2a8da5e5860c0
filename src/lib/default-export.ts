/** The default export of a module, also of a CommonJS module that was compiled from one with `export default`. */
export function defaultExport(module: { default?: unknown }): unknown {
  const { default: exported } = module
  const wrapped = typeof exported === 'object' && exported !== null && '__esModule' in exported
  return wrapped ? (exported as { default?: unknown }).default : exported
}

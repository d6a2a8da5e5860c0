/** The public API: what `import … from 'plimsoll'` gives. */

export * from './workload.ts'

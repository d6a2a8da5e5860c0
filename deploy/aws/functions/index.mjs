import { createHandler } from 'plimsoll/lambda'

/** Workloads are loaded while Lambda initialises the function. */
export const handler = await createHandler()

import { parameters, whole } from 'plimsoll/params'
import { defineWorkload } from 'plimsoll/workload'

/** Costs as little as a workload can, so that what is in front of it can be seen. */
export default defineWorkload({
  name: 'nothing',
  description: 'Does nothing',
  params: parameters({ bytes: whole({ min: 1, max: 1_000_000 }).default(100) }),
  run: ({ bytes }) => 'a'.repeat(bytes),
})

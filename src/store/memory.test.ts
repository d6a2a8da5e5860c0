import { MemoryJobStore } from './memory.ts'
import { storeContract } from './testing/contract.ts'

storeContract('memory', async () => {
  const store = new MemoryJobStore()
  return { open: async () => store, location: '' }
})

/** The rules of the five systems, by number: each has a test whose name begins with it (`npm run -s rules`). */

export const rules = {
  'CP-1': 'POST or GET with one semiprime; answers its factors; all requests of a worker run at once',
  'CP-2': 'rank = 0.4 instructions + 0.15 basic blocks + 0.05 field loads + 0.4 stack loads, at the worker',
  'CP-3':
    'intermediate metrics every 100,400,724 basic blocks; written by the owner only, and never over complete ones',
  'CP-4': 'final metrics of any thread complete the row; a complete row is not written again',
  'CP-5':
    'row: parameter, blocks, field loads, instructions, stack loads, rank, running, instance, thread; a dead owner is followed',
  'CP-6':
    'estimate: memory, then the store, then the number itself; a running row counts as MAX and is not remembered',
  'CP-7': 'MAX from rank 1,272,110,814 on, INTERMEDIATE from 161,751,155 on, else short',
  'CP-8': 'workers in order of fewest requests; a short request goes to the first at once',
  'CP-9':
    'others pass over workers above 75 % CPU; at most 9 other MAX or 19 other INTERMEDIATE there, and none of the other class',
  'CP-10':
    'what fits nowhere starts a worker, waits the grace period of 3 min and goes there; beside a start it queues that long and is placed anew',
  'CP-11': 'when 20 queue, the 21st starts another worker and counting begins anew',
  'CP-12': 'two workers at the start; the record of each has CPU, requests, MAX and INTERMEDIATE requests',
  'CP-13': 'a ping every 30 s, 3 s to answer; 3 failures in a row: dead, and ended; CPU looked at every 75 s',
  'CP-14': 'a dead worker is replaced only if fewer than 2 workers have at most 20 % CPU',
  'CP-15':
    'after 11 minutes at 20 % CPU or less a worker goes, if more than 2 exist and none is above 75 %, or 2 other idle ones remain',
  'CP-16':
    'requests of a dead or removed worker, or whose connection failed, are placed anew; the client sees nothing',
  'TI-1': 'browse and purchase, on a real database',
  'TI-2':
    'a coordinator that is also a front; other nodes ask it for their role; the oldest head is pulled first',
  'TI-3': 'the coordinator holds the two queues and serves a read cache',
  'TI-4': 'at the start max(n/3, 1) fronts and 2 max(n/3, 1) middles, n by the hour of day',
  'TI-5':
    'every 1.5 s: if more than 1.5 a server are queued, as many middles as exceed that, and a quarter as many fronts',
  'TI-6': 'a node asks to end after 1 s (front) or 2 s (middle) idle, or two gaps above 0.5 s or 0.7 s',
  'TI-7': 'refused if too few would remain, if one ended within the last second, or if it is the coordinator',
  'TI-8':
    'at each check, heads that waited more than 0.8 s (browse) or 1.8 s (purchase) are dropped: 503, counted apart',
  'CN-1': 'Julia sets, a DNA matcher with its page, Gray-Scott',
  'CN-2':
    'instructions and memory accesses of each request; of Gray-Scott 274 and 62 for each cell of each actual iteration',
  'CN-3':
    'row: id, type, hash of parameters, parameters, both metrics, times; the answer carries both in headers, and the balancer learns from these',
  'CN-4':
    'both are estimated: the same request, the store, a polynomial of logs, a heuristic; warmed at the start, rebuilt from the store',
  'CN-5': 'LIGHT to 4,000, MEDIUM to 8,000, HEAVY to 16,000, SUPER_HEAVY above; a worker holds 16,000',
  'CN-6':
    'only LIGHT requests, and only without capacity, go to a function; 3 attempts, 750 ms × 2ⁿ between them; then the queue',
  'CN-7':
    'a lane for each class and one for retries; 5 minutes of waiting an attempt, then 503 with the reason',
  'CN-8':
    'PACK below 0.4 of the capacity, SPREAD above 0.6, else as before; nobody beyond its capacity; SUPER_HEAVY on an idle worker',
  'CN-9': 'up to 3 retries, on workers that have not failed it while there are any',
  'CN-10': 'every 60 s: drained workers end, at least 1 is kept, EMA of CPU = 0.6 new + 0.4 old',
  'CN-11':
    'up above 85 % twice in a row with a queue, below 3 workers: 1, or 2 if more than a worker holds is queued; down below 20 % five times',
  'CN-12': 'health every 15 s; 3 failures in a row evict, 16 of a fresh worker; what it had is queued again',
  'CN-13': 'logs by component: balancer, autoscaler, queue, placement, retraining',
  'HC-1': 'the highest point of a height-map by BFS, DFS or A*, drawn; an uploaded map is known by its hash',
  'HC-2': 'instructions by routine: entries × static instructions',
  'HC-3':
    'row: all parameters, their concatenation, metrics, completed; what is complete is not written again',
  'HC-4':
    'estimate: the same, near ones on the map, similar size, same strategy, all, 200,000,000; × (side ÷ average side)²',
  'HC-5':
    'least work; beside others only up to 500,000,000; else a worker is launched, and whichever can first takes it',
  'HC-6': 'the outstanding work of a worker falls while its jobs run, every 12,000,000 instructions',
  'HC-7':
    'every 60 s: CPU is read; a worker without a reading is fresh; marked ones that run nothing end; beside a fresh one nothing else',
  'HC-8':
    'average work above 70 % of 500,000,000: launch; below 30 %: mark the one with the least, the last only below 50 % CPU',
  'HC-9': 'status: requests, work, last CPU, fresh, marked',
  'HC-10': 'a request is held and sent to the then least-used worker until it is done',
  'EW-1': 'foxes and rabbits, insect war, image compression',
  'EW-2':
    'instructions + memory accesses; written every 15 s, only what changed; functions write before they answer',
  'EW-3':
    'a slope between the smallest and largest x of a key, × x, without intercept; changed only by an x outside of them',
  'EW-4': 'keys: world:scenario, <={ratio}, format:quality; x: generations, rounds × armies, pixels',
  'EW-5': 'least work',
  'EW-6':
    'while scaling out: the first within limits; else a function for up to 20 % of a worker’s limit, else it waits',
  'EW-7':
    'every 60 s: above 85 % CPU add, below 15 % remove, a tenth of the fleet at a time; a batch ends when all of it is empty',
  'EW-8':
    'time limits follow the estimate; then a heartbeat decides: again there, or elsewhere; a function’s error goes to a worker',
} as const satisfies Record<`${string}-${number}`, string>

export type RuleNumber = keyof typeof rules

const prefixes = {
  cloudprime: 'CP',
  tiered: 'TI',
  cnv: 'CN',
  hillclimbing: 'HC',
  ecowork: 'EW',
} as const

/** The rules of a preset; none for those that come from nowhere else. */
export function rulesOf(preset: string): [RuleNumber, string][] {
  const prefix: string | undefined = Object.hasOwn(prefixes, preset)
    ? prefixes[preset as keyof typeof prefixes]
    : undefined
  const all = Object.entries(rules) as [RuleNumber, string][]
  return prefix === undefined ? [] : all.filter(([number]) => number.startsWith(`${prefix}-`))
}

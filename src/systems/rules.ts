/** The rules of the five systems by number. Each has tests with its number in their names (`npm run -s rules`). */

export const rules = {
  'CP-1': 'POST or GET with one semiprime; answers its factors; all requests of a worker run at once',
  'CP-2': 'rank = 0.4 instructions + 0.15 basic blocks + 0.05 field loads + 0.4 stack loads, at the worker',
  'CP-3':
    'intermediate metrics every 100,400,724 basic blocks; written by the owner only, and never over complete ones',
  'CP-4': 'final metrics of any thread complete the row; a complete row is not written again',
  'CP-5':
    'row: parameter, blocks, field loads, instructions, stack loads, rank, running, instance, thread; the row of a dead owner may be taken over',
  'CP-6':
    'estimate: memory, then the store, then the number itself; a running row counts as MAX and is not remembered',
  'CP-7': 'MAX from rank 1,272,110,814, INTERMEDIATE from 161,751,155, else short',
  'CP-8': 'workers in order of fewest requests; a short request goes to the first at once',
  'CP-9':
    'others skip workers above 75 % CPU; a worker has at most 10 MAX or 20 INTERMEDIATE, never both classes',
  'CP-10':
    'a request that fits nowhere starts a worker, waits the grace period of 3 min and goes there; if one is being started, it queues that long and is placed again',
  'CP-11': 'when 20 requests queue, the 21st starts another worker and the count restarts',
  'CP-12': 'two workers at the start; the record of each has CPU, requests, MAX and INTERMEDIATE requests',
  'CP-13':
    'a ping every 30 s, 3 s to answer; 3 failures in a row: dead, and terminated; CPU polled every 75 s',
  'CP-14': 'a dead worker is replaced only if fewer than 2 workers have at most 20 % CPU',
  'CP-15':
    'after 11 minutes at 20 % CPU or less a worker is removed, if more than 2 exist and none is above 75 %, or 2 other idle ones remain',
  'CP-16':
    'requests of a dead or removed worker, or whose connection failed or timed out, are placed again; the client sees nothing',
  'CP-17': 'each worker answers GET /health, which the pings ask',
  'CP-18': 'calibration writes class bounds and limits into a configuration',
  'CP-19': 'the higher the rank, the longer a request takes',
  'TI-1': 'browse and purchase, on a real database',
  'TI-2':
    'a coordinator that is also a front; other nodes ask it for their role; the oldest head is pulled first',
  'TI-3': 'the coordinator holds the two queues and serves a read cache',
  'TI-4': 'at the start max(n/3, 1) fronts and 2 max(n/3, 1) middles, with n by the hour of day',
  'TI-5':
    'every 1.5 s: if more than 1.5 requests per server are queued, as many middles as exceed that, and a quarter as many fronts',
  'TI-6': 'a node asks to leave after 1 s (front) or 2 s (middle) idle, or two gaps above 0.5 s or 0.7 s',
  'TI-7': 'denied if too few would remain, if one left within the last second, or if it is the coordinator',
  'TI-8':
    'at each check, heads that waited more than 0.8 s (browse) or 1.8 s (purchase) are dropped: 503, counted separately',
  'TI-9': 'calibration measures the hourly table and the threshold of 1.5',
  'CN-1': 'Julia sets, a DNA matcher with its page, Gray-Scott',
  'CN-2':
    'instructions and memory accesses of each request; for Gray-Scott 274 and 62 per cell and actual iteration',
  'CN-3':
    'row: id, type, hash of parameters, parameters, both metrics, times; the answer carries both in headers, from which the balancer learns',
  'CN-4':
    'both are estimated: the same request, the store, a polynomial of logarithms, a heuristic; warmed at start, rebuilt from the store',
  'CN-5':
    'LIGHT to 4,000, MEDIUM to 8,000, HEAVY to 16,000, SUPER_HEAVY above; a worker has a capacity of 16,000',
  'CN-6':
    'only LIGHT requests, and only without capacity, go to a function; 3 attempts, 750 ms × 2ⁿ between them; then the queue',
  'CN-7':
    'a queue for each class and one for retries; 5 minutes of waiting an attempt, then 503 with the reason',
  'CN-8':
    'PACK below 0.4 of the capacity, SPREAD above 0.6, else unchanged; no worker beyond its capacity; SUPER_HEAVY on an idle worker',
  'CN-9': 'up to 3 retries, on workers that have not failed the request while any exist',
  'CN-10': 'every 60 s: drained workers end, at least 1 is kept, EMA of CPU = 0.6 new + 0.4 old',
  'CN-11':
    'up above 85 % twice in a row with a queue, below 3 workers: 1, or 2 if the queue exceeds one capacity; down below 20 % five times',
  'CN-12':
    'health every 15 s; 3 failures in a row evict, 16 of a fresh worker; its requests are queued again',
  'CN-13': 'logs by component: balancer, autoscaler, queue, placement, retraining',
  'CN-14': 'only the listed classes are metered: fractal, DNA matcher and DNA renderer',
  'CN-15': 'five log files: lb, as, queue, placement, retrain',
  'CN-16': 'requests come from forms too, and from pages of allowed origins',
  'CN-17': 'the constants of Gray-Scott by profiling',
  'HC-1':
    'the highest point of a height-map by BFS, DFS or A*, drawn; an uploaded map is identified by its hash',
  'HC-2': 'instructions by routine: entries × static instructions',
  'HC-3': 'row: all parameters, their concatenation, metrics, completed; a complete row is not written again',
  'HC-4':
    'estimate: the same, near ones on the map, similar size, same strategy, all, 200,000,000; × (side ÷ mean side)²',
  'HC-5':
    'least work; a busy worker only up to 500,000,000; else a worker is launched, and the first that can takes the request',
  'HC-6': 'the outstanding work of a worker falls while its jobs run, every 12,000,000 instructions',
  'HC-7':
    'every 60 s: CPU is read; a worker without a reading, or with exactly 0, is fresh; empty marked workers end; while one is fresh nothing else',
  'HC-8':
    'mean work above 70 % of 500,000,000: launch; below 30 %: mark the worker with the least, the last only below 50 % CPU',
  'HC-9': 'status: requests, work, last CPU, fresh, marked',
  'HC-10': 'a request is held and sent to the least-used worker until it is done',
  'HC-11': 'only the modules of the solver are metered',
  'HC-12': 'nine searches under each tool that was tried: overhead, and how well it follows CPU time',
  'HC-13': 'calibration measures the largest search, and the work of 10 s',
  'EW-1': 'foxes and rabbits, insect war, image compression',
  'EW-2':
    'instructions + memory accesses; written every 15 s, only what changed; functions write before they answer',
  'EW-3':
    'the slope between the smallest and largest x of a key, × x, without intercept; changed only by an x outside them',
  'EW-4': 'keys: world:scenario, <={ratio}, format:quality; x: generations, rounds × armies, pixels',
  'EW-5': 'least work',
  'EW-6':
    'while scaling out: the first worker within limits; else a function for up to 20 % of a worker’s limit, else it waits',
  'EW-7':
    'every 60 s: above 85 % CPU add, below 15 % remove, a tenth of the fleet at a time; a batch ends when all of it is empty',
  'EW-8':
    'time limits follow the estimate; then a heartbeat decides: again there, or elsewhere; a function’s error goes to a worker',
  'EW-9': 'a late answer or a failed connection leads to a heartbeat, which the worker must answer',
  'EW-10': 'tables are read again every 15 s before they are changed and written',
  'EW-11': 'calibration measures the limits of a worker: requests at a time, and work',
} as const satisfies Record<`${string}-${number}`, string>

export type RuleNumber = keyof typeof rules

const prefixes = {
  cloudprime: 'CP',
  tiered: 'TI',
  cnv: 'CN',
  hillclimbing: 'HC',
  ecowork: 'EW',
} as const

/** The rules of a preset; none for presets without a document. */
export function rulesOf(preset: string): [RuleNumber, string][] {
  const prefix: string | undefined = Object.hasOwn(prefixes, preset)
    ? prefixes[preset as keyof typeof prefixes]
    : undefined
  const all = Object.entries(rules) as [RuleNumber, string][]
  return prefix === undefined ? [] : all.filter(([number]) => number.startsWith(`${prefix}-`))
}

/** All tricks by which a client could pass a request by a front, hidden in another one. */

import { chunkTricks } from './chunks.ts'
import { headTricks } from './heads.ts'
import { lengthTricks } from './lengths.ts'
import type { Trick } from './trick.ts'
import { turnTricks } from './turns.ts'

export const tricks: readonly Trick[] = [...lengthTricks, ...chunkTricks, ...headTricks, ...turnTricks]

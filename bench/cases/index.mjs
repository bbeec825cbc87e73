// All cases, in the order in which they run.
import { auditWal } from './audit-wal.mjs';
import * as exchanges from './exchanges.mjs';
import { growth } from './growth.mjs';
import { maintenance } from './maintenance.mjs';
import { memory } from './memory.mjs';
import { neighbours } from './neighbours.mjs';
import { oneRequest } from './one-request.mjs';
import { overload } from './overload.mjs';
import * as pairs from './pairs.mjs';
import { start } from './start.mjs';
import { auditTrail, operatorTrail } from './trails.mjs';
import { workflowLists } from './workflow-lists.mjs';

export const CASES = [
  ...Object.values(exchanges),
  ...Object.values(pairs),
  oneRequest,
  neighbours,
  overload,
  memory,
  maintenance,
  growth,
  workflowLists,
  auditTrail,
  auditWal,
  operatorTrail,
  start,
];

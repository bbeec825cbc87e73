// All cases, in the order in which they run.
import { apiWorkflows } from './api-workflows.mjs';
import { auditStreaming } from './audit-streaming.mjs';
import { auditTrail, auditWal } from './audit-trail.mjs';
import { embedded, exchangeEddsa, exchangeEs256, exchangeRs256 } from './exchanges.mjs';
import { growth } from './growth.mjs';
import { latency } from './latency.mjs';
import { maintenance } from './maintenance.mjs';
import { memory } from './memory.mjs';
import { neighbours } from './neighbours.mjs';
import { oneRequest } from './one-request.mjs';
import { operatorTrail } from './operator-trail.mjs';
import { overload } from './overload.mjs';
import { embedLogin, exchangeActor, exchangePolicy, firstLogin, instances, workers } from './pairs.mjs';
import { refusedKid, refusedReplay, refusedSignature } from './refusals.mjs';
import { start } from './start.mjs';
import { timing } from './timing.mjs';
import { workflowLists } from './workflow-lists.mjs';

export const CASES = [
  exchangeEs256,
  exchangeRs256,
  exchangeEddsa,
  exchangeActor,
  exchangePolicy,
  auditStreaming,
  firstLogin,
  embedLogin,
  apiWorkflows,
  refusedSignature,
  refusedKid,
  refusedReplay,
  embedded,
  latency,
  oneRequest,
  neighbours,
  overload,
  timing,
  instances,
  workers,
  memory,
  maintenance,
  growth,
  workflowLists,
  auditTrail,
  auditWal,
  operatorTrail,
  start,
];

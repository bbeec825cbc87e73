// All cases, in the order in which they run.
import { apiWorkflows } from './api-workflows.mjs';
import { auditStreaming } from './audit-streaming.mjs';
import { auditTrail } from './audit-trail.mjs';
import { auditWal } from './audit-wal.mjs';
import { embedded, exchangeEddsa, exchangeEs256, exchangeRs256 } from './exchanges.mjs';
import { growth } from './growth.mjs';
import { latency } from './latency.mjs';
import { maintenance } from './maintenance.mjs';
import { memory } from './memory.mjs';
import { neighbours } from './neighbours.mjs';
import { nodeVersions } from './node-versions.mjs';
import { older } from './older.mjs';
import { oneRequest } from './one-request.mjs';
import { operatorTrail } from './operator-trail.mjs';
import { overload } from './overload.mjs';
import {
  embedLogin,
  exchangeActor,
  exchangePolicy,
  exchangeProjects,
  firstLogin,
  instances,
  workers,
} from './pairs.mjs';
import { peers } from './peers.mjs';
import { refusedKid, refusedReplay, refusedSignature } from './refusals.mjs';
import { start } from './start.mjs';
import { workflowLists } from './workflow-lists.mjs';

export const CASES = [
  exchangeEs256,
  exchangeRs256,
  exchangeEddsa,
  peers,
  exchangeActor,
  exchangePolicy,
  exchangeProjects,
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
  instances,
  workers,
  nodeVersions,
  older,
  memory,
  maintenance,
  growth,
  workflowLists,
  auditTrail,
  auditWal,
  operatorTrail,
  start,
];

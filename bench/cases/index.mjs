// All cases, in the order in which they run.
import { apiWorkflows } from './api-workflows.mjs';
import { embedded } from './embedded.mjs';
import { embedLogin, exchangeActor, firstLogin } from './entries.mjs';
import { exchangeEddsa, exchangeEs256, exchangeRs256 } from './exchanges.mjs';
import { growth } from './growth.mjs';
import { instances } from './instances.mjs';
import { latency } from './latency.mjs';
import { maintenance } from './maintenance.mjs';
import { memory } from './memory.mjs';
import { neighbours } from './neighbours.mjs';
import { oneRequest } from './one-request.mjs';
import { refusedReplay } from './refused-replay.mjs';
import { refusedSignature } from './refused-signature.mjs';
import { start } from './start.mjs';

export const CASES = [
  exchangeEs256,
  exchangeRs256,
  exchangeEddsa,
  exchangeActor,
  firstLogin,
  embedLogin,
  apiWorkflows,
  refusedSignature,
  refusedReplay,
  embedded,
  latency,
  oneRequest,
  neighbours,
  instances,
  memory,
  maintenance,
  growth,
  start,
];

// The main job in hosts on Express and Fastify that have only the packed package of this repository.
import { KINDS } from './support/host-process.js';
import { declareJourneys } from './support/journeys.js';
import { preparedInstallation } from './support/packed-package.js';

// Each server and each kind of parts once. `npm run test:long -- package` has all four.
declareJourneys(preparedInstallation, KINDS.slice(0, 2));

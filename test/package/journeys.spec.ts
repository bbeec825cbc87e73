// The main job in hosts on Express and Fastify that know nothing of the repository but the packed package.
import { declareJourneys, KINDS } from './support/journeys.js';
import { preparedInstallation } from './support/packed-package.js';

let installation: ReturnType<typeof preparedInstallation>;
beforeAll(() => void (installation = preparedInstallation()), 180_000);

declareJourneys(() => installation, KINDS);

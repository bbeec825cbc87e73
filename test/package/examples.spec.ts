// The READMEs of the examples, followed in an empty folder; only what npm would install is linked here instead.
import { tmpdir } from 'node:os';
import { preparedInstallation } from './support/packed-package.js';
import { declareWalks } from './support/walks.js';

let installation: ReturnType<typeof preparedInstallation>;
beforeAll(() => void (installation = preparedInstallation()), 180_000);

declareWalks(
  () => installation,
  tmpdir,
  () => undefined,
);

// The READMEs of the examples, followed in an empty folder; only what npm would install is linked here instead.
import { tmpdir } from 'node:os';
import { preparedInstallation } from './support/packed-package.js';
import { declareWalks } from './support/walks.js';

declareWalks(preparedInstallation, tmpdir, () => undefined);

// The partners of examples/partners in Node.js and Python, if they can run. test/long/partners tests other languages.
import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { REPOSITORY } from '../support/source-files.js';
import type { ProgramState } from './support/conformance.js';
import { describeProgram } from './support/conformance.js';
import { copyInto, installedClient } from './support/packed-client.js';

const PROGRAMS = join(REPOSITORY, 'examples', 'partners');
const MODULES = 'import jwt, flask, cryptography';

const node = installedClient(['fastify']);
copyInto(node, 'examples/partners/node');
afterAll(() => rmSync(node, { recursive: true, force: true }));

/** The first Python with the program's dependencies. The system's Python has Debian's packages. */
function pythonState(): ProgramState {
  const pythons = ['python3', '/usr/bin/python3'];
  const able = pythons.find((python) => spawnSync(python, ['-c', MODULES]).status === 0);
  if (able === undefined)
    return {
      reason:
        'no Python 3 with PyJWT, cryptography and Flask (Debian: python3-jwt python3-cryptography python3-flask)',
    };
  return { command: [able, join(PROGRAMS, 'python', 'partner.py')], folder: PROGRAMS };
}

describeProgram('Node.js', { command: [process.execPath, 'partner.mjs'], folder: node });
describeProgram('Python', pythonState());

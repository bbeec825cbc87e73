// The backends in Node.js and Python that a partner copies from the operator's page and the documents. Others are in long/partners.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describeUnless } from '../support/describe-unless.js';
import { REPOSITORY } from '../support/source-files.js';
import { describeSnippet } from './support/snippet-run.js';

const USER = `{ id: 'customer-1', email: 'ada@partner.example' }`;

describeSnippet({
  id: 'node',
  files: {
    'main.mjs': `import { accessToken, sendFrameToken } from './automation.mjs';
const answer = (user) => new Promise((resolve) => {
  const said = {};
  const response = {
    writeHead(status) { said.status = status; return response; },
    end(text) { resolve({ ...said, text }); },
  };
  void sendFrameToken(user, response);
});
const user = ${USER};
const { text: frame } = await answer(user);
const { status: nobody } = await answer(undefined);
console.log(JSON.stringify({ frame, nobody, access: await accessToken(user) }));
`,
  },
  commands: [
    ['mkdir', 'node_modules'],
    ['ln', '-s', join(REPOSITORY, 'node_modules', 'jose'), 'node_modules/jose'],
    [process.execPath, 'main.mjs'],
  ],
});

const python = ['python3', '/usr/bin/python3'].find(
  (each) => spawnSync(each, ['-c', 'import jwt, flask, cryptography']).status === 0,
);
const missing =
  python === undefined
    ? 'no Python 3 with PyJWT, cryptography and Flask (Debian: python3-jwt python3-cryptography python3-flask)'
    : undefined;
describeUnless(missing, 'Python', () =>
  describeSnippet({
    id: 'python',
    files: {
      'main.py': `import json
from automation import access_token, frame_token

user = {"id": "customer-1", "email": "ada@partner.example"}
frame = frame_token(user).get_data(as_text=True)
print(json.dumps({"frame": frame, "nobody": frame_token(None).status_code, "access": access_token(user)}))
`,
    },
    commands: [[python ?? '', 'main.py']],
  }),
);

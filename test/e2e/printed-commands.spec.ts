// Runs each command of the operators' documents unchanged, against an instance that `init` has created.
import { execFileSync } from 'node:child_process';
import { createHmac, generateKeyPairSync } from 'node:crypto';
import { ENVIRONMENT_VARIABLES } from '../../src/config/environment.js';
import { checkStartup } from '../../src/instance/prepare-startup.js';
import { describeBuilt } from '../support/built-service.js';
import { blocksOf, InitInstance } from '../support/init-instance.js';
import { repositoryFile, repositoryFiles } from '../support/source-files.js';

// Each command is a separate process, on a busy machine.
jest.setTimeout(600_000);

/** Documents whose commands another test runs, or that cannot run here. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  'README.md': 'test/browser/readme types them',
  'CONTRIBUTING.md': 'they are the scripts that run these tests',
  'docs/partner/quickstart.md': 'test/partner/guide types them',
  'docs/partner/api.md': 'test/partner/guide types them',
  'docs/partner/keys.md': 'test/partner/guide types them',
  'docs/partner/troubleshooting.md': 'test/partner/guide types them',
  'deploy/compose/README.md': 'they need Docker; test/architecture/deployment reads the files',
  'deploy/kubernetes/README.md': 'they need a cluster; test/architecture/deployment reads the files',
  'src/token-exchange/README.md': 'test/package/generated types them',
  'packages/partner/README.md': 'test/partner/packed runs its programs',
  'packages/embed/README.md':
    'npm install of a package that is not published; test/long/embed builds its pages',
  'docs/operator/signals.md': 'test/e2e/signals-command types them, with a transmitter',
  'examples/own-product/README.md': 'test/package/examples types them',
  'examples/with-defaults/README.md': 'test/package/examples types them',
};

/** Commands that cannot be typed here, and why. */
const NOT_TYPED: readonly (readonly [command: RegExp, why: string])[] = [
  [/^docker |^kubectl |\$\(kubectl /, 'needs containers or a cluster'],
  [/timedatectl/, 'needs systemd'],
  [/^pg_restore |\/restored /, 'needs a backup in PostgreSQL: test/database/backup'],
  [/^promtool /, 'needs a Prometheus: test/architecture/observability'],
  [/postgres:\/\/svc:…|data copy/, 'needs the service stopped, and PostgreSQL: test/e2e/data-copy'],
  [/^npm install |otel\.mjs/, 'needs a registry and a collector: test/e2e/tracing'],
  [
    /^sha256sum |^tar |^npm ci |^node --max/,
    'needs the files of a release; test/browser/readme starts the service of one',
  ],
  [/audit tail/, 'runs until it is stopped: test/e2e/audit-commands'],
  [/set-password \S+ +# asks twice/, 'asks at a terminal: test/e2e/operator-commands'],
  [/^LOOK-FOR-ME$|^X-Forwarded-For: /, 'is no command'],
];

/** A block of commands, identified by its beginning, with its preconditions and its output. */
interface Block {
  readonly begins: string;
  readonly before?: string;
  readonly prints?: RegExp;
}

const SIGN =
  'npx svc-admin token sign --key partner/private.pem --kid 2026-11 --issuer https://partner.example' +
  ' --audience http://localhost:5678 --email-verified';
const ACME =
  'npx svc-admin partners add --no-store --json --public-key partner/public.pem --kid acme-1 --name acme' +
  ' --issuer https://partner.example --origins https://product.example' +
  " | node -p 'JSON.stringify(JSON.parse(fs.readFileSync(0)).entry)' > acme.json";
/** Writes the printed entry, for the user that the block before has created. */
const CI =
  "npx svc-admin users show deploy@example.com --json | node -e 'const { id: signInAs } = JSON.parse(fs.readFileSync(0)); " +
  `const entry = ${JSON.stringify(JSON.parse(blocksOf('docs/partner/ci.md', 'json')[0] ?? ''))}; ` +
  'fs.writeFileSync("ci.json", JSON.stringify({ ...entry, signInAs }))\'';
/** The request id in the documents. It is replaced by the id of a refused request. */
const PRINTED_ID = '1fr68knv0000a8k2rq4t';
const PRINTED_MOMENT = '2026-11-22T16:00:05Z';

const BLOCKS: Readonly<Record<string, readonly Block[]>> = {
  'docs/operator/going-live.md': [
    { begins: 'INSTANCE=', prints: /SVC_TOKEN_EXCHANGE_STRICT +true[^]*https:\/\/partner\.example/ },
  ],
  'docs/operator/operate.md': [
    { begins: 'export SVC_DATABASE_URL' },
    {
      begins: 'npx svc-admin keys rotate-signing',
      prints: /The next signing key signs from[^]*Every signing key is deleted/,
    },
  ],
  'docs/operator/trust.md': [
    {
      begins: 'npx svc-admin keys add --file acme.json',
      before: ACME,
      prints: /until 2031-01-01T00:00:00Z[^]*"acme" is removed/,
    },
    {
      begins: 'npx svc-admin keys add --like acme',
      before: `${ACME}; npx svc-admin keys add --file acme.json; openssl ecparam -name prime256v1 -genkey -noout | openssl ec -pubout > new.pub.pem`,
      prints: /acme-2/,
    },
    { begins: 'npx svc-admin usage --csv' },
  ],
  'docs/operator/incidents.md': [
    {
      begins: 'npx svc-admin keys revoke',
      before: 'npx svc-admin users create --email user@example.com',
      prints: /Revoked at[^]*is signed out/,
    },
    {
      begins: 'npx svc-admin keys restore',
      before: 'npx svc-admin keys revoke --issuer https://partner.example --kid 2026-11',
      prints: /Restored:/,
    },
    {
      begins: 'npx svc-admin token explain <',
      // An embedded login accepts no token that lives longer than a minute, so that one comes last.
      before: ['user --lifetime 300', 'agent --lifetime 300', 'token']
        .map((subject) => ({ subject, name: subject.split(' ')[0] }))
        .map(
          ({ subject, name }) => `${SIGN} --email ${name}@partner.example --subject ${subject} > ${name}.txt`,
        )
        .join('; '),
      prints:
        /A token exchange would succeed[^]*An embedded login would succeed[^]*what actor and subject both have[^]*token_malformed/,
    },
  ],
  'docs/operator/monitoring.md': [
    { begins: 'npx svc-admin audit list --event', prints: /token-exchange\.failed/ },
  ],
  'docs/reference/metrics.md': [{ begins: 'npm install --ignore-scripts @opentelemetry' }],
  'docs/operator/install.md': [{ begins: 'docker build' }, { begins: 'sha256sum --check' }],
  'docs/partner/ci.md': [
    { begins: 'npx svc-admin users create', prints: /deploy@example\.com/ },
    { begins: 'npx svc-admin keys add --file ci.json', before: CI, prints: /github acme\/flows main/ },
    { begins: 'kubectl get' },
  ],
  'docs/operator/operator-page.md': [
    { begins: 'npx svc-admin users set-password', before: "PASSWORD='correct horse battery staple'" },
  ],
};

/** Settings, not commands: of them the names are compared with those that there are. */
const SETTINGS = /^SVC_\w+=/;

const documents = repositoryFiles()
  .map(({ path }) => path)
  .filter((path) => path.endsWith('.md') && !/^(test|bench|demo)\//.test(path));
const scriptsOf = (path: string) => blocksOf(path, 'sh');

/** A block without the commands that are not typed here; one that goes on in the next line counts whole. */
function typeable(block: string): string {
  return block
    .replaceAll('\\\n', ' ')
    .split('\n')
    .filter((line) => !NOT_TYPED.some(([command]) => command.test(line)))
    .join('\n')
    .trim();
}

/** The commands of the table of points: the code in its third column. */
function commandsOfPoints(): string[] {
  const rows = repositoryFile('docs/operator/going-live.md').text.match(/^\| \d+ \|.*$/gm) ?? [];
  return rows.flatMap((row) => {
    const [, , , check = ''] = row.split(/(?<!\\)\|/);
    return [...check.matchAll(/`([^`]+)`/g)].map(([, command = '']) => command.replaceAll('\\|', '|'));
  });
}

describe('the documents for operators', () => {
  it('print no block of commands that no test knows', () => {
    const unknown = documents.flatMap((path) =>
      scriptsOf(path)
        .filter((block) => !(path in ELSEWHERE) && !SETTINGS.test(block))
        .filter((block) => !(BLOCKS[path] ?? []).some(({ begins }) => block.startsWith(begins)))
        .map((block) => `${path}: ${block}`),
    );
    expect(unknown).toEqual([]);
    expect(Object.keys(ELSEWHERE).filter((path) => scriptsOf(path).length === 0)).toEqual([]);
  });

  it('print settings that there are', () => {
    const known = new Set(ENVIRONMENT_VARIABLES.flatMap(({ name }) => [name, `${name}_FILE`]));
    const printed = documents
      .flatMap(scriptsOf)
      .flatMap((block) => [...block.matchAll(/\b(SVC_[A-Z_]+)=/g)].map(([, name = '']) => name));
    expect(printed.length).toBeGreaterThan(15);
    expect(printed.filter((name) => !known.has(name))).toEqual([]);
  });

  it('print trusted key entries that the strict policy takes', async () => {
    const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const key = publicKey.export({ type: 'spki', format: 'pem' });
    const entries = documents
      .flatMap((path) => blocksOf(path, 'json'))
      .filter((block) => /^\{\s*"type": "(static|jwks)"/.test(block))
      .map((block) => JSON.parse(block) as Record<string, unknown>)
      .map((entry) => ('key' in entry ? { ...entry, key } : entry));
    expect(entries.length).toBeGreaterThan(2);
    const problemsOf = async (entry: object) => {
      const environment = {
        SVC_TOKEN_EXCHANGE_TRUSTED_KEYS: JSON.stringify([entry]),
        SVC_TOKEN_EXCHANGE_STRICT: 'true',
        SVC_TOKEN_EXCHANGE_JWKS_ALLOW_HTTP: 'true',
        SVC_BASE_URL: 'https://instance.example',
      };
      return (await checkStartup({ environment, workingDirectory: '/' })).problems;
    };
    expect((await Promise.all(entries.map(problemsOf))).flat()).toEqual([]);
  });

  it('print a check of signatures that takes a genuine post, and no other', () => {
    const [program = ''] = blocksOf('docs/reference/audit-streams.md', 'js');
    const time = Math.floor(Date.now() / 1000);
    const signed = (text: string, at = time) =>
      `t=${at},v1=00,v1=${createHmac('sha256', 'secret').update(`${at}.${text}`).digest('hex')}`;
    const posts = [
      [signed('body'), 'body'],
      [signed('body'), 'another'],
      [signed('body', time - 600), 'body'],
    ];
    const run = `${program}console.log(...${JSON.stringify(posts)}.map(([header, body]) => isGenuine(header, body, 'secret')))`;
    const args = ['--input-type=module', '--eval', run];
    expect(execFileSync(process.execPath, args, { encoding: 'utf8' })).toBe('true false false\n');
  });
});

describeBuilt('a command of the documents for operators', () => {
  const instance = new InitInstance();
  let requestId = '';

  /** @returns all that was printed, of commands that have all succeeded */
  async function typed(script: string): Promise<string> {
    // Within the lifetime of a token that is signed meanwhile.
    const moment = new Date(Date.now() + 45_000).toISOString();
    const here = script.replaceAll(PRINTED_ID, requestId).replaceAll(PRINTED_MOMENT, moment);
    const { exitCode, stdout, stderr } = await instance.type(here);
    expect({ exitCode, script, stdout, stderr }).toEqual({ exitCode: 0, script, stdout, stderr });
    return stdout + stderr;
  }

  beforeAll(async () => {
    const options = ['--kid', '2026-11', '--partner-origin', 'https://product.example'];
    await instance.start(options, { actFor: ['https://partner.example'] });
    const refused = await typed(
      'curl -si http://localhost:5678/rest/auth/oauth/token -d subject_token=x -d grant_type=urn:ietf:params:oauth:grant-type:token-exchange',
    );
    [, requestId = ''] = /^x-request-id: (\S+)/im.exec(refused) ?? [];
    expect(requestId).toMatch(/^\w{20}$/);
  });
  afterAll(() => instance.end());

  const blocks = Object.entries(BLOCKS).flatMap(([path, known]) =>
    scriptsOf(path)
      .filter((block) => !SETTINGS.test(block) && typeable(block) !== '')
      .map((block) => ({ path, block, ...known.find(({ begins }) => block.startsWith(begins)) })),
  );

  it.each(blocks)('succeeds: $path, $begins', async ({ path, block, before = ':', prints = /^/ }) => {
    const local =
      path === 'docs/operator/going-live.md' ? block.replace(/https:\S+/, 'http://localhost:5678') : block;
    expect(await typed(`${before}\n${typeable(local)}`)).toMatch(prints);
  });

  it.each(commandsOfPoints().filter((command) => typeable(command) !== ''))(
    'succeeds: a point of docs/operator/going-live.md, %s',
    async (command) => {
      // Without HTTPS, and before anybody has called, nothing need be found.
      expect(await typed(`INSTANCE=http://localhost:5678\n${command}`)).not.toBe('');
    },
  );
});

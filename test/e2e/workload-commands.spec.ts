// svc-admin keys entry for jobs and services of known platforms: the service accepts their tokens with the printed entry.
import { describeOnAnyDatabase } from '../support/databases.js';
import { JwksServer } from '../support/jwks-server.js';
import { createUser } from '../support/local-users.js';
import { GITHUB_SUB, github } from '../support/platforms.js';
import { CommandLine } from '../support/run-cli.js';
import { BASE_URL, TestService } from '../support/test-service.js';
import { until } from '../support/until.js';

const ALLOW_HTTP = { SVC_TOKEN_EXCHANGE_JWKS_ALLOW_HTTP: 'true' };

describeOnAnyDatabase('entries for jobs and services', (database) => {
  const commands = CommandLine.beside(database);
  const service = TestService.forBlock(database, { trustedKeys: [], environment: ALLOW_HTTP });
  let userId: string;

  beforeAll(async () => {
    userId = await createUser(service, { email: 'deploy@example.com' });
    await createUser(service, { email: 'owner@example.com', role: 'global:owner' });
  });
  const entry = (...args: string[]) => commands.run(['keys', 'entry', ...args]);
  const written = async (...args: string[]) =>
    JSON.parse((await entry(...args)).stdout) as Record<string, unknown>;
  const AS = ['--as', 'deploy@example.com'];

  it('[P.signInAs] a job of GitHub gets in by what the command writes, with the key set of the platform', async () => {
    const platform = github();
    const server = await JwksServer.listen();
    server.publish(platform.issuer.jwks());
    try {
      const made = await written('--github', 'acme/flows', '--branch', 'main', '--id', '456789', ...AS);
      expect(made).toEqual({
        type: 'jwks',
        issuer: 'https://token.actions.githubusercontent.com',
        url: 'https://token.actions.githubusercontent.com/.well-known/jwks',
        name: 'github acme/flows main',
        expectedAudience: BASE_URL,
        flows: ['exchange'],
        subjects: [GITHUB_SUB, 'repo:acme@*/flows@456789:ref:refs/heads/main'],
        claims: { repository_id: '456789' },
        signInAs: userId,
        scopes: ['workflow:read', 'workflow:write'],
      });
      commands.write('ci.json', { ...made, url: server.url });
      await commands.output(['keys', 'add', '--file', 'ci.json']);
      const status = async (change: object) =>
        (await service.exchange({ subject_token: platform.token({ ...change }) })).status;
      await until('the job gets in', 60_000, async () => (await status({})) === 200);
      const withIds = 'repo:acme@123456/flows@456789:ref:refs/heads/main';
      expect(await status({ sub: withIds })).toBe(200);
      expect(await status({ sub: withIds.replace('@456789', '@1'), repository_id: '1' })).toBe(400);
    } finally {
      await server.close();
    }
  });

  it('[P.signInAs] GitLab, a server of your own, and Kubernetes', async () => {
    expect(await written('--gitlab', 'acme/group/flows', '--branch', 'main', ...AS)).toMatchObject({
      issuer: 'https://gitlab.com',
      url: 'https://gitlab.com/oauth/discovery/keys',
      subjects: ['project_path:acme/group/flows:ref_type:branch:ref:main'],
    });
    const own = ['--branch', 'main', '--server', 'https://git.example/', '--id', '20', ...AS];
    expect(await written('--gitlab', 'acme/flows', ...own)).toMatchObject({
      issuer: 'https://git.example',
      claims: { project_id: '20' },
    });
    const customized = ['--branch', 'main', '--issuer', 'https://git.example', ...AS];
    expect(await written('--gitlab', 'acme/flows', ...customized)).toMatchObject({
      issuer: 'https://git.example',
      url: 'https://git.example/oauth/discovery/keys',
    });
    const cluster = ['--issuer', 'https://cluster.example', '--jwks-uri', 'https://cluster.example/jwks'];
    const rest = ['--scopes', 'workflow:write', '--name', 'ci', ...AS];
    expect(await written('--kubernetes', 'ci/deployer', ...cluster, ...rest)).toMatchObject({
      issuer: 'https://cluster.example',
      subjects: ['system:serviceaccount:ci:deployer'],
      name: 'ci',
      scopes: ['workflow:write'],
    });
  });

  it.each<[string, string[], RegExp]>([
    ['no user', ['--github', 'acme/flows', '--branch', 'main'], /--github needs --as/],
    ['two platforms', ['--github', 'a/b', '--gitlab', 'a/b', ...AS], /cannot be used with/],
    [
      'a stranger',
      ['--github', 'a/b', '--branch', 'main', '--as', 'x@example.com'],
      /no user with this id or e-mail/,
    ],
    [
      'the owner',
      ['--github', 'a/b', '--branch', 'main', '--as', 'owner@example.com'],
      /--as: this user is the owner/,
    ],
  ])('[P.signInAs] is refused for %s', async (_, args, message) => {
    const { exitCode, stdout, stderr } = await entry(...args);
    expect([exitCode > 0, stdout]).toEqual([true, '']);
    expect(stderr).toMatch(message);
  });

  it('[P.subjects] warns of a name without an id, and of every branch', async () => {
    const repository = ['--github', 'acme/flows', ...AS];
    const { stderr } = await entry(...repository, '--branch', 'main');
    expect(stderr).toMatch(/^warning: subjects: may admit jobs .*: repo:acme@\*\/flows@\*:.*repository_id/m);
    const every = await entry(...repository, '--branch', '*', '--id', '456789');
    expect(every.stderr).toMatch(
      /^warning: subjects: may admit jobs .*: repo:acme\/flows:ref:refs\/heads\/\*/m,
    );
    expect(await entry(...repository, '--branch', 'main', '--id', '456789')).toMatchObject({ stderr: '' });
  });
});

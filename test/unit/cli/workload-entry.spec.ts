// By which issuer the tokens of a platform's jobs are known, as GitHub and GitLab document it for each kind of server.
import { githubIssuer, serverOf } from '../../../src/cli/workload-entry.js';

const issuerOf = (server?: string) => githubIssuer(serverOf(server));

describe('[P.signInAs] the issuer of GitHub Actions', () => {
  const COM = 'https://token.actions.githubusercontent.com';
  const GHE = 'https://token.actions.octocorp.ghe.com';

  it.each([
    [undefined, COM],
    ['https://github.com', COM],
    ['https://GitHub.com/', COM],
    ['https://www.github.com', COM],
    [COM, COM],
    [`${COM}/`, COM],
    [`${COM}/acme-inc`, `${COM}/acme-inc`],
    [`${COM}/acme-inc/`, `${COM}/acme-inc`],
    ['https://octocorp.ghe.com', GHE],
    ['https://OCTOCORP.ghe.com/', GHE],
    [GHE, GHE],
    [`${GHE}/octocorp`, `${GHE}/octocorp`],
    ['https://git.example', 'https://git.example/_services/token'],
    ['https://git.example:8443/', 'https://git.example:8443/_services/token'],
    ['https://git.example/_services/token', 'https://git.example/_services/token'],
    ['https://git.example/_services/token/', 'https://git.example/_services/token'],
    // These hosts only look alike.
    ['https://ghe.com', 'https://ghe.com/_services/token'],
    ['https://notghe.com', 'https://notghe.com/_services/token'],
    ['https://octocorp.ghe.com.example', 'https://octocorp.ghe.com.example/_services/token'],
  ])('with --server %s is %s', (server, issuer) => {
    expect(issuerOf(server)).toBe(issuer);
  });

  it.each([
    'https://github.com/acme-inc',
    'https://octocorp.ghe.com/octocorp',
    'https://git.example/acme',
    'https://a.b.ghe.com',
  ])('is unknown with --server %s', (server) => {
    expect(() => issuerOf(server)).toThrow('Give --issuer: the issuer cannot be derived from --server.');
  });
});

describe('--server', () => {
  it.each([
    'git.example',
    'ftp://git.example',
    'https://git.example/?a=b',
    'https://git.example/#a',
    'https://a:b@git.example',
  ])('may not be %s', (server) => {
    expect(() => serverOf(server)).toThrow('--server must be an address such as https://git.example.');
  });

  it('keeps the path of a GitLab instance, without its trailing slash', () => {
    expect(serverOf('https://git.example/gitlab/')).toBe('https://git.example/gitlab');
  });
});

// Stand-ins for platforms whose jobs and services have tokens of their own: claims in the shapes that the platforms document.
import { randomUUID } from 'node:crypto';
import type { Members } from '../../demo/partner.js';
import { Partner } from '../../demo/partner.js';
import { BASE_URL } from './base-url.js';

/** The reasons for which only such a token is refused: `workloads.spec.ts` shows them. */
export const WORKLOAD_REASONS = ['named_user_unknown'];

const now = () => Math.floor(Date.now() / 1000);
/** The claims about people, which these platforms do not send. */
const NOBODY = { email: undefined, given_name: undefined, family_name: undefined };

/** A platform that signs by RS256, as all three do. */
export class Platform {
  readonly issuer: Partner;

  constructor(
    issuer: string,
    private readonly shape: () => Members,
    private readonly header: Members = {},
  ) {
    this.issuer = Partner.create({ issuer, algorithm: 'RS256', audience: BASE_URL });
  }

  token(change: Members = {}, header: Members = {}): string {
    const claims = this.issuer.claims({ ...NOBODY, jti: randomUUID(), ...this.shape(), ...change });
    return this.issuer.sign(claims, { ...this.header, ...header });
  }

  /** An entry for the platform's key, with the given policy. */
  entry(policy: Members): Members {
    return this.issuer.staticEntry({ flows: ['exchange'], scopes: ['workflow:write'], ...policy });
  }
}

export const GITHUB_SUB = 'repo:acme/flows:ref:refs/heads/main';

/** docs.github.com, "OpenID Connect reference": ids are texts. */
export const github = () =>
  new Platform('https://token.actions.githubusercontent.com', () => ({
    sub: GITHUB_SUB,
    aud: BASE_URL,
    nbf: now() - 300,
    exp: now() + 300,
    actor: 'octocat',
    actor_id: '12',
    base_ref: '',
    head_ref: '',
    event_name: 'push',
    job_workflow_ref: 'acme/flows/.github/workflows/deploy.yml@refs/heads/main',
    ref: 'refs/heads/main',
    ref_protected: 'true',
    ref_type: 'branch',
    repository: 'acme/flows',
    repository_id: '456789',
    repository_owner: 'acme',
    repository_owner_id: '123456',
    repository_visibility: 'private',
    run_attempt: '2',
    run_id: '22259804324',
    run_number: '10',
    runner_environment: 'github-hosted',
    sha: 'c040cae0f0dc81641728557b80f09cfa23b83fe5',
    workflow: 'deploy',
  }));

/** docs.gitlab.com, "OpenID Connect (OIDC) Authentication Using ID Tokens": ids are strings, except the runner's. */
export const gitlab = () =>
  new Platform('https://gitlab.com', () => ({
    sub: 'project_path:acme/group/flows:ref_type:branch:ref:main',
    aud: BASE_URL,
    nbf: now() - 5,
    exp: now() + 3_600,
    namespace_id: '72',
    namespace_path: 'acme/group',
    project_id: '20',
    project_path: 'acme/group/flows',
    user_id: '1',
    user_login: 'sample-user',
    user_email: 'sample-user@acme.example',
    pipeline_id: '574',
    pipeline_source: 'push',
    job_id: '302',
    ref: 'main',
    ref_type: 'branch',
    ref_path: 'refs/heads/main',
    ref_protected: 'true',
    runner_id: 1,
    runner_environment: 'self-hosted',
    sha: '714a629c0b401fdce83e847fc9589983fc6f46bc',
  }));

/** kubernetes.io, "Managing Service Accounts": the header has no `typ`, the audience is a list. */
export const kubernetes = () =>
  new Platform(
    'https://kubernetes.default.svc.cluster.local',
    () => ({
      sub: 'system:serviceaccount:ci:deployer',
      aud: [BASE_URL],
      nbf: now(),
      exp: now() + 600,
      'kubernetes.io': {
        namespace: 'ci',
        serviceaccount: { name: 'deployer', uid: '14ee3fa4-a7e2-420f-9f9a-dbc4507c3798' },
      },
    }),
    { typ: undefined },
  );

// Examples of bodies and responses, for readers of the description and programs that display it.
import type { OpenAPIObject } from '@nestjs/swagger';

const ID = {
  user: '0190163d-8694-739b-aea5-966c26f8ad91',
  project: '0190163d-8694-739b-aea5-966c26f8ad92',
  workflow: '0190163d-8694-739b-aea5-966c26f8ad93',
  credential: '0190163d-8694-739b-aea5-966c26f8ad94',
};
const TIMES = { createdAt: '2026-01-30T09:00:00.000Z', updatedAt: '2026-01-31T12:00:00.000Z' };
const PERSON = { email: 'ada@partner.example', givenName: 'Ada', familyName: 'Lovelace' };
const DEFINITION = {
  nodes: [
    { id: 'a', name: 'Start', type: 'manualTrigger', parameters: {} },
    {
      id: 'b',
      name: 'Fetch orders',
      type: 'httpRequest',
      parameters: { method: 'GET', url: 'https://shop.example/orders' },
    },
  ],
  connections: { Start: { main: [[{ node: 'Fetch orders', type: 'main', index: 0 }]] } },
};
const WORKFLOW = {
  id: ID.workflow,
  projectId: ID.project,
  name: 'Import of orders',
  active: false,
  ...TIMES,
  canEdit: true,
};
const EXTERNAL_KEY = { issuer: 'https://partner.example', key: 'acme' };
const PROJECT = { id: ID.project, name: 'Orders', type: 'team' };

const EVENT = {
  id: '4711',
  event: 'svc.audit.token-exchange.failed',
  occurredAt: '2026-01-31T09:00:00.000Z',
  requestId: '1fr68knv0000a8k2rq4t',
  subjectUserId: null,
  actorUserId: null,
  payload: { reason: 'token_expired', issuer: 'https://partner.example', kid: '2026-11' },
};

/** By schema name. The types of credential have their data in their own schemas. */
const EXAMPLES: Readonly<Record<string, object>> = {
  NewUserBody: { ...PERSON, role: 'global:member' },
  UserChangeBody: { enabled: false },
  UserAnswer: { id: ID.user, ...PERSON, role: 'global:member', enabled: true, ...TIMES },
  ProjectBody: { name: 'Orders' },
  ProjectAnswer: { ...PROJECT, externalKeys: [EXTERNAL_KEY], ...TIMES },
  ExternalKeyAnswer: EXTERNAL_KEY,
  NewMemberBody: { userId: ID.user, role: 'project:editor' },
  MemberRoleBody: { role: 'project:viewer' },
  MemberAnswer: { id: ID.user, ...PERSON, role: 'project:editor', issuer: EXTERNAL_KEY.issuer },
  NewWorkflowBody: { name: 'Import of orders', ...DEFINITION },
  WorkflowChangeBody: { name: 'Import of all orders' },
  WorkflowAnswer: { ...WORKFLOW, ...DEFINITION },
  ListedWorkflowAnswer: WORKFLOW,
  WorkflowCountAnswer: { count: 12, hasMore: false },
  NewCredentialBody: { name: 'Shop', type: 'httpBasicAuth', data: { user: 'ada', password: 'a secret' } },
  CredentialChangeBody: { isPartialData: true, data: { password: 'another secret' } },
  CredentialAnswer: {
    id: ID.credential,
    name: 'Shop',
    type: 'httpBasicAuth',
    project: PROJECT,
    ...TIMES,
  },
  CredentialProjectAnswer: PROJECT,
  AuditEventAnswer: EVENT,
  AuditEventPageAnswer: {
    data: [EVENT],
    nextCursor: null,
    since: '2026-01-30T12:00:00.000Z',
    until: null,
    lookedBackTo: null,
  },
  ErrorAnswer: {
    error: 'bad_request',
    message: 'name must be a string of 1 to 128 characters',
    requestId: '1fr68knv0000a8k2rq4t',
  },
  NotFoundAnswer: { error: 'not_found', message: 'Not found' },
};

/** @throws Error for an example without a schema */
export function giveExamples({ components }: OpenAPIObject): void {
  for (const [name, example] of Object.entries(EXAMPLES)) {
    const schema = components?.schemas?.[name];
    if (schema === undefined) throw new Error(`there is an example of ${name}, which is not described`);
    Object.assign(schema, { examples: [example] });
  }
}

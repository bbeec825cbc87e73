// The members of a trusted key entry as a form has them: docs/trusted-keys.md says what each does.

const ROLES = [
  { value: 'global:member', text: 'Member' },
  { value: 'global:admin', text: 'Administrator' },
];
const PROJECT_ROLES = [
  { value: 'project:viewer', text: 'Viewer' },
  { value: 'project:editor', text: 'Editor' },
  { value: 'project:admin', text: 'Project administrator' },
];
const FLOWS = [
  { value: 'embed', text: 'Embedded login' },
  { value: 'exchange', text: 'Token exchange' },
  { value: 'id-jag', text: 'Identity assertion' },
  { value: 'logout', text: 'Logout by the provider' },
];

/**
 * Kinds: `text`; `number`; `choice` of some values; `lines`, a list with one value a line; `some`, a list of known values;
 * `yes-no`; `object`, with members of its own. Objects, lists and choices can be left out, which is not the same as empty: the
 * instance says what holds then, and of what it has no default for `unlimited` says it here.
 */
export const POLICY = [
  {
    title: 'Who signs in',
    members: [
      {
        name: 'expectedAudience',
        kind: 'text',
        label: 'Expected audience',
        hint: 'What `aud` must be or contain: the address of this instance, unless the partner has another. Left empty, tokens for any service pass.',
        strictHint:
          'What `aud` must be or contain: the address of this instance, unless the partner has another.',
      },
      {
        name: 'flows',
        kind: 'some',
        label: 'Sign-in methods',
        values: FLOWS,
        limit: 'Only these methods',
      },
      {
        name: 'logoutIssuer',
        kind: 'text',
        label: 'Provider that sends logouts',
        hint: 'Its `iss`, if another than the issuer. Its keys are those of this entry.',
      },
      {
        name: 'logoutAudience',
        kind: 'text',
        label: 'Audience of logout tokens',
        hint: 'Such as the client id at the provider; taken beside the expected audience.',
      },
      {
        name: 'origins',
        kind: 'lines',
        label: 'Origins of the product',
        unlimited: 'any page',
        limit: 'Only from these origins',
        hint: 'One a line, https://host[:port]. They may frame the instance, and logins come from them only.',
      },
      {
        name: 'notAfter',
        kind: 'text',
        label: 'Trust ends',
        hint: 'A day (2030-12-31) or a moment (2030-12-31T18:00:00Z), by UTC. Left empty: no end.',
      },
      {
        name: 'perMinute',
        kind: 'number',
        label: 'Tokens a minute',
        hint: '1 to 1,000,000 that succeed. Left empty: counted by address instead.',
      },
    ],
  },
  {
    title: 'Roles and users',
    members: [
      {
        name: 'allowedRoles',
        kind: 'some',
        label: 'Roles that tokens may assign',
        values: ROLES,
        unlimited: "every role but the owner's",
        limit: 'Only these roles',
        hint: 'None ticked: no role claim is heard.',
      },
      {
        name: 'emailDomains',
        kind: 'lines',
        label: 'E-mail domains',
        unlimited: 'any domain',
        limit: 'Only these domains',
        hint: 'One a line. A subdomain is another domain; * is any.',
      },
      {
        name: 'roleCeiling',
        kind: 'yes-no',
        label: 'Users get in only with one of these roles',
      },
      { name: 'excludeOwner', kind: 'yes-no', label: 'The owner never gets in' },
      {
        name: 'requireVerifiedEmail',
        kind: 'yes-no',
        label: 'An address must be verified',
      },
      {
        name: 'linkExistingUsers',
        kind: 'yes-no',
        label: 'Tokens may find existing users by e-mail',
      },
      {
        name: 'linkPrivileged',
        kind: 'yes-no',
        label: 'Also the owner and administrators',
      },
      { name: 'provisionUsers', kind: 'yes-no', label: 'Tokens may create users' },
      {
        name: 'projects',
        kind: 'object',
        label: 'Projects',
        unlimited: 'a claim of projects is not read',
        limit: 'Tokens add users to projects, and remove them',
        strictMembers: ['mayAssign', 'roles'],
        members: [
          {
            name: 'mayAssign',
            kind: 'lines',
            label: 'Projects that tokens may name',
            unlimited: 'every project of the issuer',
            limit: 'Only these projects',
            hint: 'External keys, one a line; * at the end stands for any rest.',
          },
          {
            name: 'roles',
            kind: 'some',
            label: 'Roles in projects that tokens may assign',
            unlimited: 'every role',
            values: PROJECT_ROLES,
            limit: 'Only these project roles',
          },
          { name: 'create', kind: 'yes-no', label: 'Tokens may create projects', unlimited: 'no' },
          { name: 'claim', kind: 'text', label: 'Name of the claim', hint: 'Left empty: `projects`.' },
        ],
      },
    ],
  },
  {
    title: 'Access tokens and actors',
    members: [
      {
        name: 'scopes',
        kind: 'lines',
        label: 'Scopes',
        limit: 'Only these scopes',
        hint: 'One a line, workflow:read for example. None: no token exchange.',
      },
      {
        name: 'resources',
        kind: 'lines',
        label: 'Resources',
        limit: 'Only these services',
        hint: 'One a line: absolute URIs of other services that an access token may be for.',
      },
      { name: 'requireActor', kind: 'yes-no', label: 'Only together with an actor' },
      {
        name: 'actFor',
        kind: 'lines',
        label: 'May act for subjects of',
        unlimited: 'of every issuer',
        limit: 'Only of these issuers',
        hint: 'One a line. Empty: of no issuer.',
      },
      {
        name: 'rights',
        kind: 'choice',
        label: 'Rights on behalf of a user',
        values: [
          { value: 'actor', text: 'Those of the actor' },
          { value: 'both', text: 'What both may do' },
        ],
      },
    ],
  },
];

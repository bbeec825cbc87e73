// Which users the policy of an entry lets in, links and makes: on each way in, in each situation, and where it says nothing.
import { describeOnEachDatabase } from '../support/databases.js';
import { Admission, SITUATIONS, WAYS } from './support/admission.js';
import type { AdmissionCase, Situation } from './support/admission.js';

const MEMBER = 'global:member';
const ADMIN = 'global:admin';
const OWNER = 'global:owner';

/** One reason wherever an e-mail address is what counts. */
const byEmail = (reason: string): AdmissionCase['refused'] => ({ linked: reason, provisioned: reason });
/** One reason for everybody who is there already. */
const present = (reason: string): AdmissionCase['refused'] => ({
  known: reason,
  changed: reason,
  linked: reason,
});

const verified = { requireVerifiedEmail: true };
const domains = { emailDomains: ['Product.example', 'bücher.example'] };
const ceiling = { roleCeiling: true, allowedRoles: [MEMBER] };

const VERIFIED_EMAILS: AdmissionCase[] = [
  { title: '[P.requireVerifiedEmail] true', policy: verified, claims: { email_verified: true } },
  { title: '[P.requireVerifiedEmail] silence', policy: verified, refused: byEmail('email_not_verified') },
  { title: '[P.requireVerifiedEmail] silence without the field', policy: {} },
];

const domainCase = (domain: string, refused?: AdmissionCase['refused']): AdmissionCase => ({
  title: `[P.emailDomains] ${domain}`,
  policy: domains,
  domain,
  refused,
});
const EMAIL_DOMAINS: AdmissionCase[] = [
  domainCase('BÜCHER.example'),
  domainCase('mail.product.example', byEmail('email_domain_not_allowed')),
  { title: '[P.emailDomains] any without the field', policy: {}, domain: 'anywhere.example' },
];

const LINKING: AdmissionCase[] = [
  {
    title: '[P.linkExistingUsers] false',
    policy: { linkExistingUsers: false },
    refused: { linked: 'linking_not_allowed' },
  },
  {
    title: '[P.linkPrivileged] false and an administrator',
    policy: { linkPrivileged: false },
    role: ADMIN,
    refused: { linked: 'privileged_linking_not_allowed' },
  },
  { title: '[P.linkPrivileged] false and a member', policy: { linkPrivileged: false } },
  { title: '[P.linkPrivileged] an owner without the field', policy: {}, role: OWNER },
  {
    title: '[P.provisionUsers] false',
    policy: { provisionUsers: false },
    refused: { provisioned: 'provisioning_not_allowed' },
  },
];

const ROLES: AdmissionCase[] = [
  { title: '[P.roleCeiling] a member where members are allowed', policy: ceiling },
  {
    title: '[P.roleCeiling] an administrator whom the claim would make a member',
    policy: ceiling,
    role: ADMIN,
    claims: { role: MEMBER },
    refused: present('stored_role_not_allowed'),
  },
  {
    title: '[P.roleCeiling] a member whom the claim would make an administrator',
    policy: { roleCeiling: true, allowedRoles: [ADMIN] },
    claims: { role: ADMIN },
    refused: present('stored_role_not_allowed'),
  },
  {
    title: '[P.roleCeiling] a member who may become an administrator',
    policy: { roleCeiling: true, allowedRoles: [MEMBER, ADMIN] },
    claims: { role: ADMIN },
  },
  { title: '[P.roleCeiling] an owner without the field', policy: { allowedRoles: [MEMBER] }, role: OWNER },
  {
    title: '[P.excludeOwner] an owner',
    policy: { excludeOwner: true },
    role: OWNER,
    refused: present('owner_excluded'),
  },
];

/** Who is made is made as a member. */
const NOBODY: AdmissionCase[] = [
  {
    title: '[P.roleCeiling][D9] a member where administrators are allowed',
    policy: { roleCeiling: true, allowedRoles: [ADMIN] },
    refused: { ...present('stored_role_not_allowed'), provisioned: 'role_not_allowed' },
  },
];

const CASES = [...VERIFIED_EMAILS, ...EMAIL_DOMAINS, ...LINKING, ...ROLES, ...NOBODY];

/** Every member that has a say in it, each content with a member who is known. */
const WHOLE_POLICY: AdmissionCase = {
  title: 'a whole policy',
  policy: { ...verified, ...domains, ...ceiling, linkPrivileged: false, excludeOwner: true },
  claims: { email_verified: true },
};

describeOnEachDatabase('users and the policy of an entry', (database) => {
  let admission: Admission;

  beforeAll(async () => {
    admission = await Admission.start(database, [...CASES, WHOLE_POLICY]);
  });
  afterAll(() => admission?.service.stop());

  const outcomeIn = (one: AdmissionCase, situation: Situation) => one.refused?.[situation] ?? 'accepted';

  describe.each(CASES)('$title', (one) => {
    it.each(SITUATIONS.map((situation) => [situation, outcomeIn(one, situation)] as const))(
      'a user who is %s: %s',
      async (situation) => {
        for (const way of WAYS) await admission.try(one, way, situation);
      },
    );
  });

  it('[P.roleCeiling][P.excludeOwner] who needs no change is let in without a transaction', async () => {
    expect(await admission.takesTransaction(WHOLE_POLICY, 'known')).toBe(false);
    expect(await admission.takesTransaction(WHOLE_POLICY, 'changed')).toBe(true);
  });

  it('[D23] neither log nor trail has an e-mail address of all these', async () => {
    const { service } = admission;
    const rows = await service.rows<{ payload: string }>('SELECT payload::text AS payload FROM audit_event');
    expect(rows.length).toBeGreaterThan(CASES.length);
    expect(rows.filter(({ payload }) => payload.includes('@'))).toEqual([]);
    expect(service.logText).not.toMatch(/person-\d+@|owner@/);
  });
});

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
  { title: '[P.requireVerifiedEmail] silence', policy: verified, refused: byEmail('email_not_verified') },
];

const domainCase = (domain: string, refused?: AdmissionCase['refused']): AdmissionCase => ({
  title: `[P.emailDomains] ${domain}`,
  policy: domains,
  domain,
  refused,
});
const EMAIL_DOMAINS: AdmissionCase[] = [
  domainCase('mail.product.example', byEmail('email_domain_not_allowed')),
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
  {
    title: '[P.provisionUsers] false',
    policy: { provisionUsers: false },
    refused: { provisioned: 'provisioning_not_allowed' },
  },
];

const ROLES: AdmissionCase[] = [
  {
    title: '[P.roleCeiling] an administrator whom the claim would make a member',
    policy: ceiling,
    role: ADMIN,
    claims: { role: MEMBER },
    refused: present('stored_role_not_allowed'),
  },
  {
    title: '[P.excludeOwner] an owner',
    policy: { excludeOwner: true },
    role: OWNER,
    refused: present('owner_excluded'),
  },
];

const CASES = [...VERIFIED_EMAILS, ...EMAIL_DOMAINS, ...LINKING, ...ROLES];

describeOnEachDatabase('users and the policy of an entry', (database) => {
  let admission: Admission;

  beforeAll(async () => {
    admission = await Admission.start(database, CASES);
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

  it('[D23] neither log nor trail has an e-mail address of all these', async () => {
    const { service } = admission;
    const rows = await service.rows<{ payload: string }>('SELECT payload::text AS payload FROM audit_event');
    expect(rows.length).toBeGreaterThan(CASES.length);
    expect(rows.filter(({ payload }) => payload.includes('@'))).toEqual([]);
    expect(service.logText).not.toMatch(/person-\d+@|owner@/);
  });
});

// A role that changes while somebody logs in: neither ceiling nor linking goes by a role that is no longer stored.
import { eventsOf } from '../support/audit.js';
import { describeOnEachDatabase } from '../support/databases.js';
import { isAccepted, outcomeOf } from '../support/entry-paths.js';
import { createUser, linkedUser, storedUser } from '../support/local-users.js';
import { TestService } from '../support/test-service.js';
import { link } from './support/admission.js';
import { TrustedPartner, newSub } from './support/trusted-partner.js';

const MEMBER = 'global:member';
const ADMIN = 'global:admin';
/** On the embedded database requests take turns at one connection. */
const ROUNDS = { embedded: 6, postgresql: 40 };

const open = new TrustedPartner();
const limited = new TrustedPartner({ roleCeiling: true, allowedRoles: [MEMBER] });
const careful = new TrustedPartner({ linkPrivileged: false });

describeOnEachDatabase('a role that changes between two logins', (database) => {
  const service = TestService.forBlock(database, {
    trustedKeys: [open, limited, careful].map(({ entry }) => entry),
  });

  /** A member whom two issuers know. */
  async function knownToBoth(): Promise<{ sub: string; id: string }> {
    const sub = newSub();
    const id = await createUser(service, { email: open.emailOf(sub) });
    for (const { issuer } of [open, limited]) await link(service, issuer, sub, id);
    return { sub, id };
  }

  const promote = (sub: string) => service.exchange({ subject_token: open.token({ sub, role: ADMIN }) });
  const inEitherOrder = (round: number, one: () => Promise<Response>, other: () => Promise<Response>) =>
    round % 2 === 0
      ? Promise.all([one(), other()])
      : Promise.all([other(), one()]).then(([second, first]) => [first, second] as const);

  it('[P.roleCeiling] a claim takes no role away that came before it', async () => {
    for (let round = 0; round < ROUNDS[database.kind]; round++) {
      const { sub, id } = await knownToBoth();
      const claims = { sub, role: MEMBER, given_name: `Renamed ${round}` };
      const login = () => service.embed({ token: limited.token(claims) });
      const [promoted, tried] = await inEitherOrder(round, () => promote(sub), login);
      expect(outcomeOf(promoted)).toBe('accepted');
      // Whichever came first, the user is an administrator in the end, renamed only by a login that was let in.
      const { role, givenName } = await storedUser(service, id);
      expect({ role, isRenamed: givenName !== '' }).toEqual({ role: ADMIN, isRenamed: isAccepted(tried) });
      const names = (await eventsOf(service, tried)).map(({ name }) => name);
      expect(names).not.toContain('svc.audit.token-exchange.role-updated');
    }
  });

  it('[P.roleCeiling] of two first logins the limited one gets nothing of an administrator', async () => {
    for (let round = 0; round < ROUNDS[database.kind]; round++) {
      const sub = newSub();
      const token = limited.token({ sub, email: open.emailOf(sub) });
      const login = () => service.exchange({ subject_token: token });
      const [promoted, tried] = await inEitherOrder(round, () => promote(sub), login);
      expect(outcomeOf(promoted)).toBe('accepted');
      const made = await linkedUser(service, open.issuer, sub);
      expect(made?.role).toBe(ADMIN);
      const known = await linkedUser(service, limited.issuer, sub);
      expect(known?.id).toBe(isAccepted(tried) ? made?.id : undefined);
    }
  });

  it('[P.linkPrivileged] no identity is linked to an administrator who has just become one', async () => {
    for (let round = 0; round < ROUNDS[database.kind]; round++) {
      const { sub } = await knownToBoth();
      const stranger = newSub();
      const token = careful.token({ sub: stranger, email: open.emailOf(sub) });
      const login = () => service.exchange({ subject_token: token });
      const [promoted, tried] = await inEitherOrder(round, () => promote(sub), login);
      expect(outcomeOf(promoted)).toBe('accepted');
      const isLinked = (await linkedUser(service, careful.issuer, stranger)) !== undefined;
      expect(isLinked).toBe(isAccepted(tried));
      if (!isLinked) continue;
      // Both write their rows under the lock on the user, so the trail tells who came first.
      const [linking, promotion] = await Promise.all(
        [tried, promoted].map((answer, index) =>
          eventId(answer, index === 0 ? 'identity-linked' : 'role-updated'),
        ),
      );
      expect(linking).toBeLessThan(promotion!);
    }
  });

  async function eventId(answer: Response, name: string): Promise<number> {
    const [row] = await service.rows<{ id: string }>(
      'SELECT id FROM audit_event WHERE request_id = $1 AND name = $2',
      [answer.headers.get('x-request-id'), `svc.audit.token-exchange.${name}`],
    );
    return Number(row?.id);
  }
});

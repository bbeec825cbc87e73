// Tries what an entry's policy makes of its users: each is known, changed, to be linked or to be made, on each way in.
import type { Members } from '../../../demo/partner.js';
import type { TokenExplanation } from '../../../src/token-exchange/explain/token-explanation.js';
import { census } from '../../support/census.js';
import { ENTRY_PATHS, outcomeOf } from '../../support/entry-paths.js';
import type { EntryPath } from '../../support/entry-paths.js';
import { explain, requestBy } from '../../support/explanations.js';
import type { StoredUser } from '../../support/local-users.js';
import { createUser, linkedUser } from '../../support/local-users.js';
import { TestService } from '../../support/test-service.js';
import type { TestDatabase } from '../../support/databases.js';
import {
  TrustedPartner,
  expectRefusal,
  expectUnchanged,
  newSub,
  subjectBesideActor,
} from './trusted-partner.js';

export type Role = 'global:member' | 'global:admin' | 'global:owner';

/** How the instance knows the user of a token before it. */
export const SITUATIONS = ['known', 'changed', 'linked', 'provisioned'] as const;
export type Situation = (typeof SITUATIONS)[number];

export interface AdmissionCase {
  /** Begins with the rule. */
  readonly title: string;
  readonly policy: Members;
  /** Of the user who is there already; a member unless told otherwise. */
  readonly role?: Role;
  /** Beside `sub` and `email`. */
  readonly claims?: Members;
  /** Of the e-mail address; the issuer's own unless told otherwise. */
  readonly domain?: string;
  /** The reasons; in other situations the token is accepted. */
  readonly refused?: Partial<Record<Situation, string>>;
}

/** The two methods of embedded login are told apart by nothing here. */
export const WAYS: readonly EntryPath[] = [
  ...ENTRY_PATHS.filter(({ name }) => name !== 'embed GET'),
  subjectBesideActor,
];

/** A service that trusts a partner for each case, and one without any policy. */
export class Admission {
  private constructor(
    readonly service: TestService,
    private readonly partners: ReadonlyMap<AdmissionCase, TrustedPartner>,
    private readonly open: TrustedPartner,
    private readonly knownCompanion: string,
    private readonly ownerEmail: string,
    private readonly ownerId: string,
  ) {}

  static async start(database: TestDatabase, cases: readonly AdmissionCase[]): Promise<Admission> {
    const partners = new Map(cases.map((one) => [one, new TrustedPartner(one.policy)]));
    const open = new TrustedPartner();
    const trustedKeys = [open, ...partners.values()].map(({ entry }) => entry);
    const service = await TestService.start(database, { trustedKeys });
    const ownerEmail = 'owner@instance.example';
    const ownerId = await createUser(service, { email: ownerEmail, role: 'global:owner' });
    const companion = newSub();
    await service.accessToken({ subject_token: open.token({ sub: companion }) });
    return new Admission(service, partners, open, companion, ownerEmail, ownerId);
  }

  /** Sends a token of the case's partner, and holds the answer and all that is stored against the case. */
  async try(one: AdmissionCase, way: EntryPath, situation: Situation): Promise<void> {
    const partner = this.partners.get(one)!;
    const { claims, userId } = await this.prepare(one, partner, situation);
    const token = partner.token({ ...claims, ...one.claims });
    const companion = this.companion(situation);
    const before = await census(this.service);
    const foreseen = await explain(this.service, requestBy(way, token, companion));
    expect(await census(this.service)).toEqual(before);
    const answer = await way.send(this.service, token, () => companion);
    const reason = one.refused?.[situation];
    expect(foreseen.refusal?.reason).toBe(reason);
    if (reason !== undefined) {
      await expectRefusal(this.service, answer, way, reason);
      // What a database has to tell is told once the token ids are used up (D3).
      const isPair = way === subjectBesideActor || way.party === 'actor';
      await expectUnchanged(this.service, before, isPair ? 2 : 1);
      return;
    }
    expect(outcomeOf(answer)).toBe('accepted');
    const user = await linkedUser(this.service, partner.issuer, String(claims['sub']));
    const role = one.claims?.['role'] ?? (userId === undefined ? 'global:member' : one.role);
    expect(user).toMatchObject({
      ...(userId === undefined ? {} : { id: userId }),
      role: role ?? 'global:member',
    });
    this.expectForeseen(foreseen, way, user);
  }

  /** What was explained beforehand is what has happened. */
  private expectForeseen(foreseen: TokenExplanation, way: EntryPath, user: StoredUser | undefined): void {
    const party = way.party ?? 'subject';
    const explained = foreseen.tokens.find((one) => one.party === party)?.user;
    const id = explained?.by === 'provisioning' ? null : user?.id;
    expect(explained).toMatchObject({ id, roleAfter: user?.role });
  }

  /** Nobody beside a refused party comes into being, so whoever stands beside a stranger is a stranger too. */
  private companion(situation: Situation): string {
    return this.open.token({ sub: situation === 'known' ? this.knownCompanion : newSub() });
  }

  private async prepare(
    { role = 'global:member', domain }: AdmissionCase,
    partner: TrustedPartner,
    situation: Situation,
  ): Promise<{ claims: Members; userId: string | undefined }> {
    const sub = newSub();
    const isOwner = role === 'global:owner' && situation !== 'provisioned';
    const own = domain === undefined ? partner.emailOf(sub) : `${sub}@${domain}`;
    const email = isOwner ? this.ownerEmail : own;
    if (situation === 'provisioned') return { claims: { sub, email }, userId: undefined };
    const userId = isOwner ? this.ownerId : await createUser(this.service, { email, role });
    if (situation !== 'linked') await link(this.service, partner.issuer, sub, userId);
    return {
      claims: { sub, email, ...(situation === 'changed' ? { given_name: `New ${sub}` } : {}) },
      userId,
    };
  }
}

/** Makes an external identity known, as a login of an earlier day has. */
export async function link(service: TestService, issuer: string, sub: string, userId: string): Promise<void> {
  const statement = 'INSERT INTO token_exchange_identity_link (issuer, subject, user_id) VALUES ($1, $2, $3)';
  await service.rows(statement, [issuer, sub, userId]);
}
